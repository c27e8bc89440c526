// The SystemC machine and the plain loop give the same result.
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/simulator.h"
#include "tests/sim/test_programs.h"
#include "tests/support/status_matchers.h"

namespace ptxla::sim {
namespace {

record::DeviceTrace Trace(const isa::Program& program,
                          const chips::Slice& slice, Fidelity fidelity,
                          Engine engine) {
  SimOptions options;
  options.fidelity = fidelity;
  options.engine = engine;
  absl::StatusOr<record::DeviceTrace> trace = Simulate(program, slice, options);
  EXPECT_TRUE(trace.ok()) << trace.status();
  if (!trace.ok()) return record::DeviceTrace();
  trace->clear_events();  // the two count differently
  return *trace;
}

isa::Program RandomProgram(std::mt19937* random, int cores) {
  isa::Program p;
  int next_copy = 0;
  for (int i = 0; i < 6; ++i) {
    const bool copy = (*random)() % 2 == 0;
    if (copy) AddCopyStart(&p, next_copy, 1 + (*random)() % (4 << 20));
    StreamKernel s = RandomStream(random);
    s.parallel = cores > 1;
    AddKernel(&p, MakeStreamKernel(s), cores);
    if (copy) AddCopyDone(&p, next_copy++);
  }
  isa::CollectiveStart start;
  start.id = 100;
  start.bytes = 1 + (*random)() % (1 << 20);
  p.num_partitions = 4;
  p.schedule.push_back({Info("all-reduce-start", "all-reduce-start"), start});
  AddKernel(&p, MakeStreamKernel(RandomStream(random)));
  isa::CollectiveDone done;
  done.id = 100;
  p.schedule.push_back({Info("all-reduce-done", "all-reduce-done"), done});
  return p;
}

TEST(Engines, GiveTheSameTrace) {
  if (!HasSystemC()) GTEST_SKIP() << "a build without SystemC";
  std::mt19937 random(43);
  for (int round = 0; round < 30; ++round) {
    const bool megacore = round % 2 == 0;
    const chips::Slice slice = TestSlice(megacore ? "v5p-8" : "v5e-4");
    const isa::Program p = RandomProgram(&random, megacore ? 2 : 1);
    for (Fidelity f :
         {Fidelity::kRoofline, Fidelity::kKernel, Fidelity::kTile}) {
      EXPECT_EQ(Trace(p, slice, f, Engine::kSystemC).DebugString(),
                Trace(p, slice, f, Engine::kPlain).DebugString())
          << FidelityName(f) << " round " << round;
    }
  }
}

TEST(Engines, RunAfterRunInOneProcess) {
  std::mt19937 random(47);
  const chips::Slice slice = TestSlice("v5e-4");
  const isa::Program p = RandomProgram(&random, 1);
  const std::string first =
      Trace(p, slice, Fidelity::kTile, Engine::kSystemC).DebugString();
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(Trace(p, slice, Fidelity::kTile, Engine::kSystemC).DebugString(),
              first);
  }
}

TEST(Engines, ADeadlockLeavesNothingBehind) {
  isa::Kernel k = MakeStreamKernel({});
  k.name = "stuck";
  k.num_semaphores = 1;
  isa::Block block;
  isa::Instr wait;
  wait.op = isa::Opcode::kDmaDoneWait;
  wait.imm2 = 4096;
  block.Add({wait});
  k.step.push_back(std::move(block));
  isa::Program bad, good;
  AddKernel(&bad, k);
  AddKernel(&good, MakeStreamKernel({}));
  const chips::Slice slice = TestSlice("v5e-1");
  for (Engine engine : {Engine::kSystemC, Engine::kPlain}) {
    SimOptions options;
    options.engine = engine;
    options.fidelity = Fidelity::kTile;
    for (int i = 0; i < 3; ++i) {
      absl::StatusOr<record::DeviceTrace> trace = Simulate(bad, slice, options);
      EXPECT_EQ(trace.status().code(), absl::StatusCode::kFailedPrecondition);
      EXPECT_THAT(std::string(trace.status().message()),
                  ::testing::HasSubstr("kernel \"stuck\" waits for semaphore"));
      EXPECT_TRUE(Simulate(good, slice, options).ok());
    }
  }
}

// Two semaphore waits that DMAs of descriptors satisfy, one after the other.
TEST(Engines, DescriptorsCountUpTheirSemaphore) {
  isa::Kernel k;
  k.name = "gather";
  isa::KernelArg table;
  table.name = "table";
  table.bytes = 1 << 20;
  k.args.push_back(table);
  isa::DmaDescriptor row;
  row.src_arg = 0;
  row.inner_bytes = 4096;
  k.descriptors.push_back(row);
  k.num_semaphores = 1;
  isa::Block entry, step, exit;
  entry.AddNop(1);
  exit.AddNop(1);
  for (int i = 0; i < 8; ++i) {
    isa::Instr start;
    start.op = isa::Opcode::kDmaStartDesc;
    start.imm = 0;
    step.Add({start});
  }
  isa::Instr wait;
  wait.op = isa::Opcode::kDmaDoneWait;
  wait.imm = 0;
  wait.imm2 = 4 * 4096;
  step.Add({wait});
  step.Add({wait});
  k.entry.push_back(std::move(entry));
  k.step.push_back(std::move(step));
  k.exit.push_back(std::move(exit));
  isa::Program p;
  AddKernel(&p, k);
  const chips::Slice slice = TestSlice("v6e-1");
  // Eight descriptors of 15 ns each, then the latency of the last.
  const double us = 8 * 0.015 + ToSeconds(slice.chip.hbm().latency) * 1e6;
  for (Fidelity f : {Fidelity::kKernel, Fidelity::kTile}) {
    const record::DeviceTrace trace = Trace(p, slice, f, Engine::kPlain);
    EXPECT_NEAR(trace.op(0).end_ps() - trace.op(0).start_ps(), us * 1e6,
                0.02 * 1e6);
    EXPECT_EQ(Trace(p, slice, f, Engine::kSystemC).DebugString(),
              trace.DebugString());
  }
}

}  // namespace
// One transfer of 64 MiB of a descriptor: between HBM and HBM its bytes are
// read and written.
TEST(Engines, ADescriptorWithinHbmTakesTwiceTheTimeOfOneToVmem) {
  const auto us = [](isa::Space to, Fidelity f) {
    isa::Kernel k;
    k.name = "copy";
    isa::KernelArg from, target;
    from.name = "from";
    from.bytes = target.bytes = 64 << 20;
    target.name = "to";
    target.space = to;
    k.args = {from, target};
    isa::DmaDescriptor d;
    d.src_arg = 0;
    d.dst_arg = 1;
    d.inner_bytes = from.bytes;
    k.descriptors.push_back(d);
    k.num_semaphores = 1;
    isa::Block entry, step, exit;
    entry.AddNop(1);
    exit.AddNop(1);
    isa::Instr start, wait;
    start.op = isa::Opcode::kDmaStartDesc;
    wait.op = isa::Opcode::kDmaDoneWait;
    wait.imm2 = static_cast<int32_t>(from.bytes);
    step.Add({start});
    step.Add({wait});
    k.entry.push_back(std::move(entry));
    k.step.push_back(std::move(step));
    k.exit.push_back(std::move(exit));
    isa::Program p;
    AddKernel(&p, k);
    const auto trace = Trace(p, TestSlice("v6e-1"), f, Engine::kPlain);
    return (trace.op(0).end_ps() - trace.op(0).start_ps()) / 1e6;
  };
  for (Fidelity f : {Fidelity::kKernel, Fidelity::kTile}) {
    EXPECT_NEAR(us(isa::Space::kHbm, f) / us(isa::Space::kVmem, f), 2, 0.1);
  }
}

}  // namespace ptxla::sim
