// kernel, tile and memo: three ways to the same cycles.
#include <random>

#include "gtest/gtest.h"
#include "sim/core/timing_cache.h"
#include "sim/simulator.h"
#include "tests/sim/test_programs.h"
#include "tests/support/status_matchers.h"

namespace ptxla::sim {
namespace {

int64_t CyclesOf(const isa::Program& program, const chips::Slice& slice,
                 Fidelity fidelity, bool memoize = true) {
  SimOptions options;
  options.fidelity = fidelity;
  options.memoize = memoize;
  absl::StatusOr<record::DeviceTrace> trace = Simulate(program, slice, options);
  EXPECT_TRUE(trace.ok()) << trace.status();
  return trace.ok() ? trace->total_cycles() : -1;
}

TEST(Fidelity, KernelEqualsTileWhereNothingOverlaps) {
  std::mt19937 random(17);
  for (const char* name : {"unit", "v5e-1", "v6e-1", "v3-8"}) {
    const chips::Slice slice = TestSlice(name);
    for (int round = 0; round < 50; ++round) {
      isa::Program p;
      for (int k = 0; k < 3; ++k) {
        AddKernel(&p, MakeStreamKernel(RandomStream(&random)));
      }
      const int64_t tile = CyclesOf(p, slice, Fidelity::kTile);
      EXPECT_EQ(CyclesOf(p, slice, Fidelity::kKernel), tile)
          << name << " round " << round;
    }
  }
}

TEST(Fidelity, KernelEqualsTileOnTwoCores) {
  std::mt19937 random(19);
  const chips::Slice slice = TestSlice("v5p:1x1x1");
  for (int round = 0; round < 100; ++round) {
    StreamKernel s = RandomStream(&random);
    s.parallel = true;
    isa::Program p;
    AddKernel(&p, MakeStreamKernel(s), 2);
    EXPECT_EQ(CyclesOf(p, slice, Fidelity::kKernel),
              CyclesOf(p, slice, Fidelity::kTile))
        << "round " << round;
  }
}

// The second core's last block is shorter; of so many steps that is nothing.
TEST(Fidelity, CoresThatDifferInTheirLastStepsAreMirrors) {
  StreamKernel s;
  s.grid = {2048};
  s.ragged_bytes = 4096;
  s.parallel = true;
  isa::Program p;
  AddKernel(&p, MakeStreamKernel(s), 2);
  const chips::Slice slice = TestSlice("v5p:1x1x1");
  const auto together =
      static_cast<double>(CyclesOf(p, slice, Fidelity::kKernel, false));
  EXPECT_NEAR(
      static_cast<double>(CyclesOf(p, slice, Fidelity::kKernel)) / together, 1,
      1e-3);
}

TEST(Fidelity, MemoChangesNothing) {
  std::mt19937 random(23);
  const chips::Slice slice = TestSlice("v6e-1");
  for (int round = 0; round < 50; ++round) {
    isa::Program p;
    AddKernel(&p, MakeStreamKernel(RandomStream(&random)));
    AddCopyStart(&p, 1, 1 + random() % (8 << 20));
    AddKernel(&p, MakeStreamKernel(RandomStream(&random)));
    AddCopyDone(&p, 1);
    p.schedule.push_back(p.schedule[0]);
    for (Fidelity f : {Fidelity::kKernel, Fidelity::kTile}) {
      EXPECT_EQ(CyclesOf(p, slice, f, true), CyclesOf(p, slice, f, false))
          << "round " << round;
    }
  }
}

TEST(Fidelity, FoldedLoopsTakeAsLongAsWalkedOnes) {
  std::mt19937 random(29);
  const chips::Slice slice = TestSlice("v5e-1");
  for (int round = 0; round < 20; ++round) {
    isa::Program p;
    isa::While loop;
    loop.trips = 1 + random() % 20;
    AddKernel(&p, MakeStreamKernel(RandomStream(&random)), 1, &loop.condition);
    AddKernel(&p, MakeStreamKernel(RandomStream(&random)), 1, &loop.body);
    isa::While outer;
    outer.trips = 3;
    outer.body.push_back({Info("while.1", "while"), loop});
    p.schedule.push_back({Info("while.2", "while"), outer});
    for (Fidelity f : {Fidelity::kKernel, Fidelity::kTile}) {
      EXPECT_EQ(CyclesOf(p, slice, f, true), CyclesOf(p, slice, f, false))
          << "round " << round;
    }
  }
}

// Copies that overlap kernels: HBM is shared as a fluid at kernel, transfer by
// transfer at tile.
TEST(Fidelity, KernelIsWithinThreePercentOfTileUnderOverlap) {
  std::mt19937 random(31);
  double worst = 0;
  for (const char* name : {"v5e-1", "v6e-1"}) {
    const chips::Slice slice = TestSlice(name);
    for (int round = 0; round < 100; ++round) {
      isa::Program p;
      StreamKernel s;
      s.grid = {static_cast<int64_t>(32 + random() % 64)};
      s.block_bytes = 4096LL * (16 + random() % 64);
      s.compute = static_cast<int>(random() % 1500);
      AddCopyStart(&p, 1, 1 + random() % (16 << 20));
      AddKernel(&p, MakeStreamKernel(s));
      AddCopyDone(&p, 1);
      const double tile = CyclesOf(p, slice, Fidelity::kTile);
      const double kernel = CyclesOf(p, slice, Fidelity::kKernel);
      worst = std::max(worst, std::abs(kernel / tile - 1));
      EXPECT_NEAR(kernel / tile, 1, 0.03) << name << " round " << round;
    }
  }
  RecordProperty("worst", std::to_string(worst));
}

// Its share of HBM is too small for a rate: copies do not slow it down.
TEST(Fidelity, AKernelThatHardlyReadsTakesItsTimeBesideCopies) {
  for (const char* name : {"unit", "v5e-1"}) {
    const chips::Slice slice = TestSlice(name);
    isa::Program p;
    StreamKernel s;
    s.grid = {500};
    s.outputs = 0;
    s.moves_with = {-1};
    s.block_bytes = 512;
    s.compute = 1000;
    AddCopyStart(&p, 1, 1 << 20);
    AddKernel(&p, MakeStreamKernel(s));
    AddCopyDone(&p, 1);
    const double tile = CyclesOf(p, slice, Fidelity::kTile);
    EXPECT_NEAR(CyclesOf(p, slice, Fidelity::kKernel) / tile, 1, 0.005) << name;
  }
}

TEST(Fidelity, TimingsKeptFromAnotherRunChangeNothing) {
  std::mt19937 random(61);
  isa::Program p;
  for (int k = 0; k < 5; ++k) {
    AddKernel(&p, MakeStreamKernel(RandomStream(&random)));
  }
  TimingCache timings;
  SimOptions options;
  options.timings = &timings;
  for (const char* key : {"hbm.bandwidth", "hbm.latency", "ici.hop"}) {
    const chips::Slice slice = TestSlice("v5e-1", key, 1.2);
    EXPECT_EQ(Simulate(p, slice, options)->total_cycles(),
              CyclesOf(p, slice, Fidelity::kKernel))
        << key;
    EXPECT_EQ(timings.size(), 5);
  }
  // Another machine has timings of its own.
  EXPECT_EQ(Simulate(p, TestSlice("v6e-1"), options)->total_cycles(),
            CyclesOf(p, TestSlice("v6e-1"), Fidelity::kKernel));
  EXPECT_EQ(timings.size(), 10);
}

TEST(Fidelity, KernelsThatAnEarlierProgramHasAreTimedOnce) {
  std::mt19937 random(62);
  isa::Program first, second;
  for (int k = 0; k < 5; ++k) {
    isa::Kernel kernel = MakeStreamKernel(RandomStream(&random));
    kernel.fingerprint = k + 1;
    if (k < 4) AddKernel(&first, kernel);
    if (k > 0) AddKernel(&second, kernel);
  }
  const chips::Slice slice = TestSlice("v5e-1");
  TimingCache of_first, of_second;
  SimOptions options;
  options.timings = &of_first;
  ASSERT_OK(Simulate(first, slice, options).status());
  of_second.Share(of_first, first, second);
  EXPECT_EQ(of_second.size(), 3);
  options.timings = &of_second;
  EXPECT_EQ(Simulate(second, slice, options)->total_cycles(),
            CyclesOf(second, slice, Fidelity::kKernel));
  EXPECT_EQ(of_second.size(), 4);
}

TEST(Fidelity, ALongGridTakesFewStepsToCompute) {
  isa::Program p;
  StreamKernel s;
  s.grid = {64, 64, 64};
  s.moves_with = {0, 1};
  AddKernel(&p, MakeStreamKernel(s));
  const chips::Slice slice = TestSlice("unit");
  EXPECT_EQ(CyclesOf(p, slice, Fidelity::kKernel, true),
            CyclesOf(p, slice, Fidelity::kKernel, false));
}

}  // namespace
}  // namespace ptxla::sim
