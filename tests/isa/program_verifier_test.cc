// What the verifier wants of a program around its kernels: copies, arguments,
// buffers.
#include <cstdint>
#include <variant>

#include "isa/program.h"
#include "isa/verifier.h"
#include "tests/isa/good_kernel.h"
#include "tests/support/status_matchers.h"

namespace ptxla::isa {
namespace {

using ::ptxla::isa::testing::GoodKernel;
using ::ptxla::isa::testing::GoodMachine;
using ::ptxla::testing::StatusIs;
using ::testing::HasSubstr;

Program GoodProgram() {
  Program p;
  p.kernels = {GoodKernel()};
  p.scoped_vmem_bytes = p.kernels[0].vmem_bytes;
  p.buffers = {{0, "in", 32 * 512, Space::kHbm, 0, -1, ""},
               {1, "out", 32 * 512, Space::kHbm, 32 * 512, -1, ""}};
  p.schedule.push_back({{}, CopyStart{1, {0, 0}, {1, 0}, 64}});
  p.schedule.push_back({{}, Call{0, {{0, 0}, {1, 0}}, 1, {}}});
  p.schedule.push_back({{}, CopyDone{1}});
  return p;
}

#define EXPECT_BROKEN_PROGRAM(program, rule)           \
  EXPECT_THAT(VerifyProgram((program), GoodMachine()), \
              StatusIs(absl::StatusCode::kInternal, HasSubstr(rule)))

TEST(ProgramVerifierTest, PiecesOfACopyLieInsideOfItsSource) {
  Program p = GoodProgram();
  p.schedule[0].action = CopyStart{1, {0, 0}, {1, 0}, 64, 2, 32 * 512 - 32};
  EXPECT_OK(VerifyProgram(p, GoodMachine()));
  p.schedule[0].action = CopyStart{1, {0, 0}, {1, 0}, 64, 2, 32 * 512};
  EXPECT_BROKEN_PROGRAM(p, "source");
  p.schedule[0].action = CopyStart{1, {0, 0}, {1, 0}, 64, 3, 128};
  EXPECT_BROKEN_PROGRAM(p, "64 bytes in 3 pieces");
}

TEST(ProgramVerifierTest, ArgumentsMoveInsideOfTheirBuffers) {
  Program p = GoodProgram();
  p.buffers[0].bytes = 3 * 32 * 512;
  Call& call = std::get<Call>(p.schedule[1].action);
  call.moving = {{0, {1, 4}, false, 2, 32 * 512}};
  EXPECT_OK(VerifyProgram(p, GoodMachine()));
  call.moving[0].last = 3;
  EXPECT_BROKEN_PROGRAM(p, "last arg0: 16384 bytes at 49152 of buffer 0");
  call.moving = {{0, {1, 4}, false, 1, 32 * 512}, {0, {1, 8}, false, 2, 16384}};
  EXPECT_BROKEN_PROGRAM(p, "last arg0: 16384 bytes at 49152 of buffer 0");
  call.moving = {{2, {1, 4}, false, 1, 512}};
  EXPECT_BROKEN_PROGRAM(p, "no argument 2 to move");
  call.moving = {{0, {1, 32 * 512}, false, 1, 512}};
  EXPECT_BROKEN_PROGRAM(p, "index of arg0");
}

// As XLA does: a start beyond the last place is the last one.
TEST(ProgramVerifierTest, NumbersBeyondTheLastPlaceAreTheLastOne) {
  const MovingArg in_signed = {0, {}, false, 5, 512};
  EXPECT_EQ(in_signed.Offset(4), 4 * 512);
  EXPECT_EQ(in_signed.Offset(6), 5 * 512);
  EXPECT_EQ(in_signed.Offset(uint32_t(-1)), 0);
  const MovingArg in_unsigned = {0, {}, true, 5, 512};
  EXPECT_EQ(in_unsigned.Offset(uint32_t(-1)), 5 * 512);
}

TEST(ProgramVerifierTest, ProgramsBindTheirBuffers) {
  EXPECT_OK(VerifyProgram(GoodProgram(), GoodMachine()));
  Program p = GoodProgram();
  std::get<Call>(p.schedule[1].action).args[1].offset = 1;
  EXPECT_BROKEN_PROGRAM(p, "arg1: 16384 bytes at 1 of buffer 1");
  p = GoodProgram();
  p.buffers[1].space = Space::kCmem;
  EXPECT_BROKEN_PROGRAM(p, "arg1 is in cmem, not in hbm");
  p = GoodProgram();
  std::get<Call>(p.schedule[1].action).cores = 2;
  EXPECT_BROKEN_PROGRAM(p, "runs on 2 cores");
  p = GoodProgram();
  p.schedule.pop_back();
  EXPECT_BROKEN_PROGRAM(p, "copy 1 never ends");
  p = GoodProgram();
  p.buffers[1].space = Space::kVmem;
  p.buffers[1].offset = GoodMachine().vmem_bytes;
  EXPECT_BROKEN_PROGRAM(p, "ends beyond");
  p = GoodProgram();
  p.scoped_vmem_bytes = 0;
  EXPECT_BROKEN_PROGRAM(p, "the program keeps 0");
}

}  // namespace
}  // namespace ptxla::isa
