// The embedded chips: complete, sourced, and equal to their published peaks.
#include <cmath>

#include "chips/chip_spec.h"
#include "chips/compiler_policy.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace ptxla::chips {
namespace {

ChipSpec Chip(absl::string_view name) {
  absl::StatusOr<ChipSpec> chip = ChipSpec::Load(name);
  EXPECT_TRUE(chip.ok()) << chip.status();
  return *chip;
}

TEST(ChipFiles, EveryEmbeddedChipLoads) {
  EXPECT_EQ(ChipSpec::Names().size(), 8u);
  for (const std::string& name : ChipSpec::Names()) {
    absl::StatusOr<ChipSpec> chip = ChipSpec::Load(name);
    ASSERT_TRUE(chip.ok()) << chip.status();
    EXPECT_EQ(chip->name(), name);
  }
}

TEST(ChipFiles, EveryNumberHasASourceAndAConfidence) {
  for (const std::string& name : ChipSpec::Names()) {
    const ChipSpec chip = Chip(name);
    for (const Parameter& p : chip.parameters()) {
      EXPECT_GT(p.source.size(), 3u) << name << " " << p.key;
      EXPECT_NE(p.confidence, CONFIDENCE_UNSPECIFIED) << name << " " << p.key;
      EXPECT_FALSE(p.unit.empty()) << name << " " << p.key;
    }
  }
}

TEST(ChipFiles, AChipsOwnPolicyGoesBeforeThatOfEveryChip) {
  EXPECT_EQ(CompilerPolicy("product_step_bundles"), 8192);
  EXPECT_EQ(CompilerPolicy(Chip("v6e"), "product_step_bundles"), 13800);
  EXPECT_EQ(CompilerPolicy(Chip("v6e"), "reshape_gain"),
            CompilerPolicy("reshape_gain"));
}

// Published dense bf16 peaks, TFLOP/s.
TEST(ChipFiles, PeakMatmulIsThePublishedPeak) {
  const std::pair<const char*, double> kPeaks[] = {
      {"v2", 46},   {"v3", 123},  {"v4", 275},    {"v5e", 197},
      {"v5p", 459}, {"v6e", 918}, {"tpu7x", 2307}};
  for (const auto& [name, tflops] : kPeaks) {
    EXPECT_NEAR(
        Chip(name).PeakMatmul(MatmulType::kBf16).count() / 1e12 / tflops, 1,
        0.003)
        << name;
  }
}

TEST(ChipFiles, PeaksOfOtherTypesAreRelativeToBf16) {
  const auto ratio = [](absl::string_view name, MatmulType type) {
    const ChipSpec chip = Chip(name);
    return chip.PeakMatmul(type).count() /
           chip.PeakMatmul(MatmulType::kBf16).count();
  };
  EXPECT_EQ(ratio("v5e", MatmulType::kInt8), 2);
  EXPECT_EQ(ratio("v6e", MatmulType::kInt8), 2);
  EXPECT_EQ(ratio("v4", MatmulType::kInt8), 1);
  EXPECT_EQ(ratio("tpu7x", MatmulType::kInt8), 1);
  EXPECT_EQ(ratio("v6e", MatmulType::kFp8), 1);
  EXPECT_EQ(ratio("tpu7x", MatmulType::kFp8), 2);
  EXPECT_EQ(ratio("v6e", MatmulType::kF32), 1);
}

TEST(ChipFiles, PeakVpuIsOneOperationPerAluAndCycle) {
  EXPECT_NEAR(Chip("v5e").PeakVpu().count() / 1e12, 6.14, 0.01);
  EXPECT_NEAR(Chip("v5p").PeakVpu().count() / 1e12, 14.3, 0.05);
  EXPECT_NEAR(Chip("v3").PeakVpu().count() / 1e12, 3.85, 0.01);
}

TEST(ChipFiles, UsableMemoryIsLessThanNominal) {
  for (const std::string& name : ChipSpec::Names()) {
    const ChipSpec chip = Chip(name);
    EXPECT_LE(chip.hbm().usable, chip.hbm().nominal) << name;
    EXPECT_LE(chip.vmem().usable, chip.vmem().size) << name;
    EXPECT_LE(chip.vmem().scoped_limit, chip.vmem().usable) << name;
  }
  EXPECT_EQ(Chip("v5e").hbm().usable, Bytes(15.75 * 1073741824.0));
  EXPECT_EQ(Chip("tpu7x").hbm_usable_per_device(), Bytes(94.75 * 1073741824.0));
}

TEST(ChipFiles, OnlyV4AndV5pAreMegacore) {
  for (const std::string& name : ChipSpec::Names()) {
    EXPECT_EQ(Chip(name).core().cores_per_device,
              name == "v4" || name == "v5p" ? 2 : 1)
        << name;
  }
  EXPECT_EQ(Chip("tpu7x").devices_per_chip(), 2);
  EXPECT_EQ(Chip("v5p").devices_per_chip(), 1);
}

TEST(ChipFiles, LatenciesGoByTheirNames) {
  const ChipSpec v6e = Chip("v6e");
  EXPECT_EQ(v6e.Latency("matmul_bf16"), 192);
  EXPECT_EQ(v6e.Interval("matmul_bf16"), 8);
  EXPECT_EQ(v6e.Latency("nothing_like_it"), std::nullopt);
  EXPECT_EQ(Chip("v4").Latency("matmul_s8"), std::nullopt);
  EXPECT_EQ(Chip("v5e").Latency("xlu_rotate.2"), 90);
}

TEST(ChipFiles, EveryLatencyOfTheUnitChipIsOne) {
  const ChipSpec unit = Chip("unit");
  for (const Parameter& p : unit.parameters()) {
    if (p.key.rfind("latency.", 0) != 0) continue;
    EXPECT_EQ(p.value, 1) << p.key;
  }
  EXPECT_EQ(Chip("unit").MxuRowsPerCycle(MatmulType::kF32), 1);
  EXPECT_EQ(Chip("unit").MxuRowsPerCycle(MatmulType::kBf16), 1);
}

TEST(ChipFiles, TextOfAChipReadsBackToTheSameChip) {
  const ChipSpec v5p = Chip("v5p");
  absl::StatusOr<ChipSpec> again = ChipSpec::Parse(v5p.ToText(), "again");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->fingerprint(), v5p.fingerprint());
  EXPECT_EQ(again->ToText(), v5p.ToText());
}

TEST(ChipFiles, AScaledNumberChangesThatNumberOnly) {
  const ChipSpec v5e = Chip("v5e");
  absl::StatusOr<ChipSpec> faster = v5e.WithScaled("hbm.bandwidth", 1.2);
  ASSERT_TRUE(faster.ok()) << faster.status();
  EXPECT_DOUBLE_EQ(faster->hbm().bandwidth.count(), 1.2 * 819e9);
  EXPECT_NE(faster->fingerprint(), v5e.fingerprint());
  for (const Parameter& p : v5e.parameters()) {
    if (p.key != "hbm.bandwidth") {
      EXPECT_EQ(faster->Find(p.key)->value, p.value) << p.key;
    }
  }
  EXPECT_EQ(faster->Find("hbm.bandwidth")->unit, "GB/s");
  EXPECT_NEAR(faster->Find("hbm.bandwidth")->written, 982.8, 1e-6);
}

TEST(ChipFiles, AScaledWholeNumberStaysWholeAndPositive) {
  absl::StatusOr<ChipSpec> less = Chip("v6e").WithScaled("latency.vld", 0.8);
  ASSERT_TRUE(less.ok());
  EXPECT_EQ(less->Latency("vld"), 1);
  absl::StatusOr<ChipSpec> more =
      Chip("v6e").WithScaled("hbm.efficiency_read", 2);
  ASSERT_TRUE(more.ok());
  EXPECT_EQ(more->hbm().efficiency_read, 1.0);
}

TEST(ChipFiles, AssumedNumbersAreListed) {
  bool found = false;
  const ChipSpec v5e = Chip("v5e");
  for (const Parameter* p : v5e.Assumed()) {
    EXPECT_EQ(p->confidence, ASSUMED);
    found = found || p->key == "ici.hop";
  }
  EXPECT_TRUE(found);
  EXPECT_TRUE(Chip("unit").Assumed().empty());
}

TEST(ChipFiles, PricesCarryWhereAndWhen) {
  const ChipSpec v5e = Chip("v5e");
  ASSERT_EQ(v5e.prices().size(), 1u);
  EXPECT_EQ(v5e.prices()[0].usd_per_chip_hour(), 1.20);
  EXPECT_EQ(v5e.prices()[0].date(), "2025-11");
  EXPECT_TRUE(Chip("tpu7x").prices().empty());
}

}  // namespace
}  // namespace ptxla::chips
