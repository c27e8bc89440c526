// The closed form of HBM against what was measured on the chips.
#include "memory_model/hbm.h"

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace ptxla::memory {
namespace {

chips::ChipSpec Chip(absl::string_view name) {
  return *chips::ChipSpec::Load(name);
}

double FractionOfPeak(absl::string_view chip, Transfer t) {
  const HbmModel hbm(Chip(chip));
  return t.bytes.count() / ToSeconds(hbm.latency() + hbm.Busy(t)) /
         hbm.bandwidth().count();
}

// Measured: 1,015 GB/s of 1,228 (v4), 1,400 of 1,638 (v6e); elsewhere 80-95 %.
TEST(Hbm, ALargeReadReachesTheFractionOfItsChip) {
  const Transfer read{Bytes(int64_t{1} << 30)};
  EXPECT_NEAR(FractionOfPeak("v4", read) / (1015.0 / 1228), 1, 0.05);
  EXPECT_NEAR(FractionOfPeak("v6e", read) / (1400.0 / 1638), 1, 0.05);
  for (const char* name : {"v2", "v3", "v5e", "v5p", "tpu7x"}) {
    EXPECT_GT(FractionOfPeak(name, read), 0.80) << name;
    EXPECT_LT(FractionOfPeak(name, read), 0.95) << name;
  }
}

TEST(Hbm, ALargeCopyReachesTheFractionOfItsChip) {
  for (const std::string& name : chips::ChipSpec::Names()) {
    if (name == "unit") continue;
    const HbmModel hbm(Chip(name));
    const double fraction =
        hbm.StreamRate(0.5).count() / hbm.bandwidth().count();
    EXPECT_GT(fraction, 0.78) << name;
    EXPECT_LT(fraction, 0.95) << name;
  }
  // 3,200 GB/s of one core's 3,690.
  const HbmModel tpu7x(Chip("tpu7x"));
  EXPECT_NEAR(tpu7x.StreamRate(0.5).count() / 3200e9, 1, 0.05);
}

// Copies from HBM of one v4 chip: bytes, us.
TEST(Hbm, CopiesOfV4TakeAsLongAsMeasured) {
  const HbmModel hbm(Chip("v4"));
  const std::pair<double, double> kRows[] = {{1048576, 1.48},
                                             {2097152, 2.44},
                                             {4194304, 4.70},
                                             {8388608, 8.78},
                                             {16777216, 17.17}};
  for (const auto& [bytes, us] : kRows) {
    EXPECT_NEAR(ToSeconds(hbm.latency() + hbm.Busy({Bytes(bytes)})) * 1e6 / us,
                1, 0.12)
        << bytes;
  }
}

// A stream of 4 KiB DMAs on v6e takes 15 ns each.
TEST(Hbm, SmallDmasPayForTheirDescriptor) {
  const HbmModel hbm(Chip("v6e"));
  EXPECT_EQ(hbm.Busy({Bytes(4096)}), Picoseconds(15000));
  EXPECT_EQ(hbm.Busy({Bytes(4)}), Picoseconds(15000));
  EXPECT_GT(hbm.Busy({Bytes(1 << 20)}), Picoseconds(15000));
  EXPECT_EQ(hbm.Busy({Bytes(0)}), Picoseconds(0));
}

TEST(Hbm, ShortRunsAreSlowerThanLongOnes) {
  const HbmModel hbm(Chip("v5e"));
  Picoseconds last(0);
  for (int64_t run : {1 << 20, 1 << 16, 4096, 512, 136, 64, 32}) {
    Transfer t{Bytes(1 << 20)};
    t.run = Bytes(run);
    const Picoseconds busy = hbm.Busy(t);
    EXPECT_GT(busy, last) << run;
    last = busy;
  }
  Transfer half{Bytes(136 * 1024)};
  half.run = Bytes(136);
  Transfer whole{Bytes(160 * 1024)};  // runs of 136 move granules of 160
  EXPECT_NEAR(hbm.Busy(half).count(),
              hbm.Busy(whole).count() * (1 + 136. / 160),
              hbm.Busy(whole).count() * 0.01);
}

TEST(Hbm, AMixOfReadsAndWritesPaysForTurnaround) {
  const HbmModel hbm(Chip("v5e"));
  Transfer alone{Bytes(1 << 20)};
  Transfer mixed = alone;
  mixed.write_fraction = 0.5;
  EXPECT_GT(hbm.Busy(mixed), hbm.Busy(alone));
  Transfer third = alone;
  third.write_fraction = 1.0 / 3;
  EXPECT_GT(hbm.Busy(mixed), hbm.Busy(third));
}

// Add chains of 134 M and 268 M elements on v6e, one operand of which is the
// result: 691 and 1,389 us.
TEST(Hbm, AnUpdateInPlaceIsSlowerThanOneIntoAnotherArray) {
  const HbmModel hbm(Chip("v6e"));
  Transfer t{Bytes(int64_t{256} << 20)};
  t.write_fraction = 1.0 / 3;
  const Picoseconds other = hbm.Busy(t);
  t.in_place = true;
  const Picoseconds read = hbm.Busy(t);
  t.write = true;
  EXPECT_GT(read, other);
  EXPECT_NEAR(ToSeconds(other + read + hbm.Busy(t)) * 1e6 / 691.3, 1, 0.08);
}

TEST(Hbm, ABetterNumberIsNeverSlower) {
  const chips::ChipSpec v5e = Chip("v5e");
  Transfer t{Bytes(123456)};
  t.run = Bytes(384);
  t.write_fraction = 0.3;
  for (const auto& [key, factor] :
       {std::pair<const char*, double>{"hbm.bandwidth", 1.1},
        {"hbm.efficiency_read", 1.05},
        {"hbm.turnaround", 0.5},
        {"hbm.block_half", 0.5},
        {"hbm.latency", 0.5},
        {"dma.descriptor", 0.5}}) {
    const HbmModel better(*v5e.WithScaled(key, factor));
    const HbmModel base(v5e);
    EXPECT_LE(better.latency() + better.Busy(t), base.latency() + base.Busy(t))
        << key;
  }
}

TEST(Hbm, TwoDevicesOfAChipHaveHalfOfItEach) {
  EXPECT_EQ(HbmModel(Chip("tpu7x")).bandwidth(), BytesPerSecond(3690e9));
  EXPECT_EQ(HbmModel(Chip("v5p")).bandwidth(), BytesPerSecond(2765e9));
}

}  // namespace
}  // namespace ptxla::memory
