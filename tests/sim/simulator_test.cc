// What the simulator promises about time and bounds.
#include "sim/simulator.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "memory_model/hbm.h"
#include "sim/core/in_place.h"
#include "sim/core/kernel_account.h"
#include "tests/sim/test_programs.h"
#include "tests/support/status_matchers.h"

namespace ptxla::sim {
namespace {

record::DeviceTrace RunIt(const isa::Program& program,
                          const chips::Slice& slice, SimOptions options = {}) {
  absl::StatusOr<record::DeviceTrace> trace = Simulate(program, slice, options);
  EXPECT_TRUE(trace.ok()) << trace.status();
  return trace.ok() ? *trace : record::DeviceTrace();
}

int64_t Sum(const record::BoundBreakdown& b) {
  return b.mxu_ps() + b.vpu_ps() + b.hbm_ps() + b.ici_ps() + b.dcn_ps() +
         b.overhead_ps() + b.host_ps();
}

const record::TransferTrace& CopyOf(const record::DeviceTrace& trace) {
  for (const record::TransferTrace& t : trace.transfer()) {
    if (t.name() == "copy-start.1") return t;
  }
  ADD_FAILURE() << "no copy";
  return record::TransferTrace::default_instance();
}

// The unit chip: prologue 1, a granule of 1000 B per cycle, latency 1 cycle.
TEST(Simulator, ASmallKernelTakesTheCyclesThatOneCanCount) {
  StreamKernel s;
  s.grid = {2};
  s.block_bytes = 512 * 1000;  // 512 cycles
  s.compute = 1000;
  s.outputs = 0;
  isa::Program p;
  AddKernel(&p, MakeStreamKernel(s));
  const record::DeviceTrace trace = RunIt(p, TestSlice("unit"));
  // Prologue 1. Entry asks at cycle 1, the block is there at 514. Step 0 asks
  // for the next block at cycle 2, waits at its second bundle and goes on as if
  // it had begun at 513. The next block arrives within. Exit 1.
  EXPECT_EQ(trace.total_cycles(), 513 + 1002 + 1002 + 1);
  EXPECT_EQ(trace.total_ps(), trace.total_cycles() * 1000);
}

TEST(Simulator, BoundsSumToTheTotalAndToEachOp) {
  std::mt19937 random(37);
  for (const char* name : {"v5e-8", "v6e-8", "v5p-8"}) {
    const chips::Slice slice = TestSlice(name);
    for (Fidelity f :
         {Fidelity::kRoofline, Fidelity::kKernel, Fidelity::kTile}) {
      isa::Program p = AllReduceBeside(64 << 20, 8);
      if (slice.topology.num_devices() < 8) p.num_partitions = 4;
      for (int k = 0; k < 5; ++k) {
        AddKernel(&p, MakeStreamKernel(RandomStream(&random)));
      }
      AddCopyStart(&p, 9, 3 << 20);
      AddCopyDone(&p, 9);
      SimOptions options;
      options.fidelity = f;
      const record::DeviceTrace trace = RunIt(p, slice, options);
      EXPECT_EQ(Sum(trace.bound()), trace.total_ps()) << name;
      int64_t ops = 0;
      for (const record::OpTrace& op : trace.op()) {
        EXPECT_EQ(Sum(op.bound()), op.end_ps() - op.start_ps()) << op.name();
        ops += op.cycles();
      }
      EXPECT_EQ(ops + slice.chip.core().program_prologue.count(),
                trace.total_cycles());
      EXPECT_EQ(trace.fidelity(), FidelityName(f));
    }
  }
}

TEST(Simulator, AStepBelongsToItsLongestResource) {
  const chips::Slice slice = TestSlice("v5e-1");
  StreamKernel memory;
  memory.grid = {100};
  memory.block_bytes = 1 << 20;
  memory.compute = 10;
  isa::Program p;
  AddKernel(&p, MakeStreamKernel(memory));
  const record::DeviceTrace hbm = RunIt(p, slice);
  EXPECT_GT(hbm.bound().hbm_ps(), 0.99 * hbm.total_ps());

  StreamKernel vector = memory;
  vector.vadds = 20000;  // 4 slots: 5000 cycles, more than the DMAs take
  vector.compute = 0;
  isa::Program q;
  AddKernel(&q, MakeStreamKernel(vector));
  const record::DeviceTrace vpu = RunIt(q, slice);
  EXPECT_GT(vpu.bound().vpu_ps(), 0.2 * vpu.total_ps());
  EXPECT_GT(vpu.bound().overhead_ps(), 0.6 * vpu.total_ps());
}

TEST(Simulator, ALargeCopyReachesTheChipsFractionOfHbm) {
  for (const char* name : {"v4:1x1x1", "v5e-1", "v6e-1"}) {
    const chips::Slice slice = TestSlice(name);
    isa::Program p;
    AddCopyStart(&p, 1, 96 << 20);
    AddCopyDone(&p, 1);
    const record::DeviceTrace trace = RunIt(p, slice);
    const memory::HbmModel hbm(slice.chip);
    const double rate = (96 << 20) / (trace.total_ps() * 1e-12);
    EXPECT_NEAR(rate / hbm.StreamRate(0).count(), 1, 0.05) << name;
    EXPECT_LT(rate, hbm.bandwidth().count()) << name;
  }
}

TEST(Simulator, AStreamReadAndWrittenReachesTheFractionOfItsMix) {
  const chips::Slice slice = TestSlice("tpu7x-2");
  StreamKernel s;
  s.grid = {512};
  s.block_bytes = 2 << 20;
  s.compute = 100;
  isa::Program p;
  AddKernel(&p, MakeStreamKernel(s));
  const record::DeviceTrace trace = RunIt(p, slice);
  // Measured: 3,200 GB/s of one core, read and written.
  EXPECT_NEAR(trace.hbm_bytes() / (trace.total_ps() * 1e-12) / 3.2e12, 1, 0.03);
}

TEST(Simulator, AKernelThatWritesWhereItReadsPaysForThePagesThatItShares) {
  StreamKernel s;
  s.grid = {128};
  s.block_bytes = 2 << 20;
  const auto time = [&](const char* target, bool in_place, Fidelity fidelity) {
    isa::Program p;
    AddKernel(&p, MakeStreamKernel(s));
    auto& call = std::get<isa::Call>(p.schedule[0].action);
    if (in_place) call.args[1] = call.args[0];
    SimOptions options;
    options.fidelity = fidelity;
    return RunIt(p, TestSlice(target), options).total_ps();
  };
  for (const Fidelity f : {Fidelity::kKernel, Fidelity::kTile}) {
    // 0.28 more than the 1.19 of a copy's byte, over the pin rate.
    EXPECT_NEAR(1.0 * time("v6e-1", true, f) / time("v6e-1", false, f), 1.24,
                0.02);
    // Nothing is measured there.
    EXPECT_EQ(time("v5e-1", true, f), time("v5e-1", false, f));
  }
}

// A donated argument is the memory of its result; one that is read whole
// beside a result elsewhere is not.
TEST(Simulator, ADonatedArgumentIsUpdatedInPlace) {
  isa::Program p;
  AddKernel(&p, MakeStreamKernel({}));
  const auto& call = std::get<isa::Call>(p.schedule[0].action);
  EXPECT_TRUE(InPlaceArgs(p, call).empty());
  p.buffers[1].alias = 0;
  EXPECT_EQ(InPlaceArgs(p, call), (std::vector<bool>{true, true}));
}

TEST(Simulator, TheAccountOfAnUpdateInPlaceIsItsTime) {
  isa::Program p;
  AddKernel(&p, MakeStreamKernel({}));
  auto& call = std::get<isa::Call>(p.schedule[0].action);
  call.args[1] = call.args[0];
  const chips::Slice slice = TestSlice("v6e-1");
  ASSERT_OK_AND_ASSIGN(
      const KernelAccount account,
      AccountFor(p.kernels[0], 1, slice, InPlaceArgs(p, call)));
  EXPECT_EQ(account.cycles, RunIt(p, slice).op(0).cycles());
}

TEST(Simulator, CopiesHideUnderComputeAndAreExposedWithoutIt) {
  const chips::Slice slice = TestSlice("v5e-1");
  StreamKernel s;
  s.compute = 20000;
  for (Fidelity f : {Fidelity::kKernel, Fidelity::kTile}) {
    SimOptions options;
    options.fidelity = f;
    isa::Program alone, both;
    AddKernel(&alone, MakeStreamKernel(s));
    AddCopyStart(&both, 1, 8 << 20);
    AddKernel(&both, MakeStreamKernel(s));
    AddCopyDone(&both, 1);
    const record::DeviceTrace hidden = RunIt(both, slice, options);
    EXPECT_NEAR(static_cast<double>(hidden.total_ps()) /
                    RunIt(alone, slice, options).total_ps(),
                1, 0.001);
    EXPECT_EQ(CopyOf(hidden).exposed_ps(), 0);
    isa::Program bare;
    AddCopyStart(&bare, 1, 8 << 20);
    AddCopyDone(&bare, 1);
    const record::DeviceTrace exposed = RunIt(bare, slice, options);
    EXPECT_GT(CopyOf(exposed).exposed_ps(), 0.9 * exposed.total_ps());
  }
}

TEST(Simulator, AnAllReduceOverlapsKernelsAndItsRestIsExposed) {
  const chips::Slice slice = TestSlice("v5e-8");
  const record::DeviceTrace trace = RunIt(AllReduceBeside(640 << 20, 8), slice);
  ASSERT_EQ(trace.collective_size(), 1);
  const record::CollectiveTrace& c = trace.collective(0);
  EXPECT_EQ(c.algorithm(), "ring of 8, both ways");
  EXPECT_EQ(c.group_size(), 8);
  EXPECT_LT(c.exposed_ps(), c.end_ps() - c.start_ps());
  EXPECT_NEAR(trace.bound().ici_ps(), c.exposed_ps(), 1);
  EXPECT_EQ(trace.total_chips(), 8);
  EXPECT_EQ(trace.simulated_chips(), 1);
}

TEST(Simulator, ACollectiveOfAFoldedLoopStandsForAllIterations) {
  const chips::Slice slice = TestSlice("v5e-8");
  isa::Program p = AllReduceBeside(1 << 20, 8);
  isa::While loop;
  loop.trips = 10;
  loop.body.swap(p.schedule);
  std::swap(loop.body[1], loop.body[2]);  // the kernel, behind its end
  p.schedule.push_back({Info("while.1", "while"), loop});
  const record::DeviceTrace trace = RunIt(p, slice);
  ASSERT_EQ(trace.collective_size(), 1);
  EXPECT_EQ(trace.collective(0).repeat(), 10);
}

TEST(Simulator, OnePartitionNeedsNoLinks) {
  const record::DeviceTrace trace =
      RunIt(AllReduceBeside(640 << 20, 1), TestSlice("v5e-1"));
  EXPECT_EQ(trace.bound().ici_ps(), 0);
}

TEST(Simulator, TwoCoresShareTheHbmAndSplitTheWork) {
  const chips::Slice slice = TestSlice("v5p:1x1x1");
  const auto cycles = [&](int compute, int cores) {
    StreamKernel s;
    s.grid = {64};
    s.block_bytes = 16 << 20;
    s.compute = compute;
    s.parallel = true;
    isa::Program p;
    AddKernel(&p, MakeStreamKernel(s), cores);
    return static_cast<double>(RunIt(p, slice).total_cycles());
  };
  EXPECT_NEAR(cycles(200000, 1) / cycles(200000, 2), 2, 0.05);  // compute-bound
  EXPECT_NEAR(cycles(10, 1) / cycles(10, 2), 1, 0.05);          // memory-bound
}

TEST(Simulator, ABetterNumberIsNeverSlower) {
  std::mt19937 random(41);
  for (int round = 0; round < 20; ++round) {
    isa::Program p = AllReduceBeside(8 << 20, 8);
    AddCopyStart(&p, 9, 3 << 20);
    AddKernel(&p, MakeStreamKernel(RandomStream(&random)));
    AddKernel(&p, MakeStreamKernel(RandomStream(&random)));
    AddCopyDone(&p, 9);
    for (Fidelity f : {Fidelity::kKernel, Fidelity::kTile}) {
      SimOptions options;
      options.fidelity = f;
      const int64_t base = RunIt(p, TestSlice("v5e-8"), options).total_ps();
      for (const auto& [key, factor] :
           {std::pair<const char*, double>{"hbm.bandwidth", 1.3},
            {"hbm.efficiency_read", 1.1},
            {"hbm.latency", 0.5},
            {"hbm.turnaround", 0.5},
            {"dma.descriptor", 0.5},
            {"ici.link", 1.5},
            {"ici.hop", 0.5},
            {"ici.collective_startup", 0.5},
            {"clock.core", 1.2},
            {"kernel.prologue", 0.5}}) {
        // An edge of the clock may fall one cycle later for a transfer.
        EXPECT_LE(RunIt(p, TestSlice("v5e-8", key, factor), options).total_ps(),
                  base + 2000)
            << key << " round " << round;
      }
    }
  }
}

TEST(Simulator, TheSameProgramGivesTheSameBytes) {
  const isa::Program p = AllReduceBeside(8 << 20, 8);
  const chips::Slice slice = TestSlice("v5e-8");
  EXPECT_EQ(RunIt(p, slice).SerializeAsString(),
            RunIt(p, slice).SerializeAsString());
}

}  // namespace
}  // namespace ptxla::sim
