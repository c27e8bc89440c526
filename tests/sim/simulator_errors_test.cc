// What the simulator refuses, and how it says so.
#include <string>
#include <utility>
#include <variant>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/simulator.h"
#include "tests/sim/test_programs.h"
#include "tests/support/status_matchers.h"

namespace ptxla::sim {
namespace {

using ::ptxla::testing::StatusIs;
using ::testing::HasSubstr;

TEST(SimulatorErrors, ALoopBeyondAnyClockIsRefusedByName) {
  isa::Program p;
  isa::While loop;
  loop.trips = int64_t{1} << 60;
  AddKernel(&p, MakeStreamKernel({}), 1, &loop.body);
  p.schedule.push_back({Info("while.1", "while"), loop});
  EXPECT_THAT(Simulate(p, TestSlice("v5e-1"), {}).status(),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("while.1")));
}

TEST(SimulatorErrors, AWaitThatNothingEndsIsADeadlockWithAName) {
  isa::Kernel k = MakeStreamKernel({});
  k.name = "gather";
  k.num_semaphores = 1;
  isa::Block block;
  isa::Instr wait;
  wait.op = isa::Opcode::kDmaDoneWait;
  wait.imm = 0;
  wait.imm2 = 4096;
  block.Add({wait});
  k.step.push_back(std::move(block));
  isa::Program p;
  AddKernel(&p, k);
  for (Fidelity f : {Fidelity::kKernel, Fidelity::kTile}) {
    SimOptions options;
    options.fidelity = f;
    absl::StatusOr<record::DeviceTrace> trace =
        Simulate(p, TestSlice("v5e-1"), options);
    ASSERT_FALSE(trace.ok());
    EXPECT_EQ(trace.status().code(), absl::StatusCode::kFailedPrecondition);
    const std::string text(trace.status().message());
    EXPECT_THAT(text, HasSubstr("deadlock"));
    EXPECT_THAT(text, HasSubstr("\"gather\""));
    EXPECT_THAT(text, HasSubstr("semaphore 0"));
    EXPECT_THAT(text, HasSubstr("4096"));
  }
}

TEST(SimulatorErrors, ProgramsThatDoNotFitTheSliceAreRefused) {
  const auto error = [](const isa::Program& p, absl::string_view slice) {
    absl::StatusOr<record::DeviceTrace> trace =
        Simulate(p, TestSlice(slice), {});
    EXPECT_EQ(trace.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(trace.status().message());
  };
  EXPECT_THAT(error(AllReduceBeside(4, 8), "v5e-4"), HasSubstr("8 devices"));
  isa::Program cores;
  StreamKernel s;
  s.parallel = true;
  AddKernel(&cores, MakeStreamKernel(s), 2);
  EXPECT_THAT(error(cores, "v5e-1"), HasSubstr("2 cores"));
  isa::Program other;
  other.chip = "v6e";
  EXPECT_THAT(error(other, "v5e-1"), HasSubstr("compiled for v6e"));
  isa::Program never;
  AddCopyStart(&never, 3, 64);
  EXPECT_THAT(error(never, "v5e-1"), HasSubstr("never awaited"));
  isa::Program unknown;
  AddCopyDone(&unknown, 4);
  EXPECT_THAT(error(unknown, "v5e-1"), HasSubstr("copy-done.4"));
  isa::Program bad;
  AddKernel(&bad, MakeStreamKernel({}));
  std::get<isa::Call>(bad.schedule[0].action).args[0].buffer = 99;
  EXPECT_THAT(error(bad, "v5e-1"), HasSubstr("no buffer 99"));
}

TEST(SimulatorErrors, FidelitiesGoByTheirNames) {
  EXPECT_EQ(*ParseFidelity("tile"), Fidelity::kTile);
  EXPECT_THAT(ParseFidelity("tiles").status().message(),
              HasSubstr("did you mean \"tile\""));
}

}  // namespace
}  // namespace ptxla::sim
