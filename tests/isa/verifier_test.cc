#include "isa/verifier.h"

#include "base/check.h"
#include "isa/asm.h"
#include "tests/isa/good_kernel.h"
#include "tests/support/status_matchers.h"

namespace ptxla::isa {
namespace {

using ::ptxla::isa::testing::GoodKernel;
using ::ptxla::isa::testing::GoodMachine;
using ::ptxla::testing::StatusIs;
using ::testing::HasSubstr;

Kernel WithStep(absl::string_view text) {
  Kernel k;
  k.grid = {4};
  k.scratch_bytes = 1 << 16;
  k.num_semaphores = 1;
  LayoutVmem(&k);
  absl::StatusOr<Code> code = ParseCode(text);
  CHECK(code.ok()) << code.status();
  k.step = *code;
  return k;
}

Kernel WithBundles(absl::string_view text) {
  return WithStep(absl::StrCat("block \"b\" {", text, "}"));
}

#define EXPECT_BROKEN(kernel, rule)                  \
  EXPECT_THAT(VerifyKernel((kernel), GoodMachine()), \
              StatusIs(absl::StatusCode::kInternal, HasSubstr(rule)))

TEST(VerifierTest, ACorrectKernelPasses) {
  EXPECT_OK(VerifyKernel(GoodKernel(), GoodMachine()));
}

TEST(VerifierTest, CodeThatBreaksThePipelineIsNamedWithItsPlace) {
  EXPECT_BROKEN(WithBundles("{v1 = vadd.f32 v0, v0} {v2 = vmov v1}"),
                "step: block \"b\" bundle 1: `v2 = vmov v1`: v1 is read 1");
  EXPECT_BROKEN(WithBundles("{vpow2.f32 v1} {nop 3} {v2 = vpop.eup}"),
                "popped");
  EXPECT_BROKEN(WithBundles("{vpow2.f32 v1}"),
                "at the end: FIFO eup of unit 0 still holds 1");
  EXPECT_BROKEN(WithBundles("{v1 = vadd.f32 v0, v0}"),
                "v1 is still being written");
}

TEST(VerifierTest, LoopsMustKeepFifosBalanced) {
  EXPECT_BROKEN(WithStep("loop s9 step 1 times 5 { block \"b\" { "
                         "{vpow2.f32 v1} } }"),
                "pushes and pops different numbers");
  // A software pipeline over iterations is fine: one push ahead.
  EXPECT_OK(VerifyKernel(
      WithStep("block \"prologue\" {{vpow2.f32 v1} {nop 13}} "
               "loop s9 step 1 times 5 { block \"b\" { {v2 = vpop.eup} "
               "{vpow2.f32 v2} {nop 12} } } "
               "block \"epilogue\" {{v3 = vpop.eup} {v4 = vmov v3}}"),
      GoodMachine()));
}

TEST(VerifierTest, HazardsBetweenIterationsAreFound) {
  // v1 is written in the last bundle and read in the first of the next
  // iteration.
  EXPECT_BROKEN(
      WithStep("loop s9 step 1 times 5 { block \"b\" { {v2 = vmov v1} {nop 5} "
               "{v1 = vadd.f32 v3, v3} } } block \"e\" { { nop 2 } }"),
      "v1 is read 1 cycles before");
  // Only from the third level on: inner loops are read in every state.
  EXPECT_BROKEN(
      WithStep("loop s9 step 1 times 2 { loop s8 step 1 times 2 { block \"b\" {"
               "{@p0 v2 = vmov v1} {nop 5} } } block \"w\" { "
               "{v1 = vadd.f32 v3, v3} } loop s7 step 1 times 0 {} block \"z\" "
               "{ {v5 = vmov v1} } }"),
      "v1 is read 1 cycles before");
}

TEST(VerifierTest, ShortLoopBodiesArePaddedByTheBranch) {
  // 4 delay slots make the iteration 5 long: the latency of 2 is over.
  EXPECT_OK(VerifyKernel(
      WithStep("loop s9 step 1 times 5 { block \"b\" { "
               "{v1 = vadd.f32 v1, v1} } } block \"e\" { { nop 2 } }"),
      GoodMachine()));
}

TEST(VerifierTest, RegistersAreWithinTheChips) {
  MachineModel m = GoodMachine();
  m.vregs = 32;
  EXPECT_THAT(
      VerifyKernel(WithBundles("{v32 = vmov v1}"), m),
      StatusIs(absl::StatusCode::kInternal, HasSubstr("the chip has no v32")));
}

TEST(VerifierTest, LoopCountersAreReadOnly) {
  EXPECT_BROKEN(WithStep("loop s9 step 1 times 5 { block \"b\" { "
                         "{s9 = smov 1} } }"),
                "counter of a loop");
  EXPECT_BROKEN(WithStep("loop s40 step 1 times 5 { }"), "the chip has no s40");
}

TEST(VerifierTest, LoadsOfABundleUseDifferentBanks) {
  EXPECT_BROKEN(WithBundles("{v1 = vld [0] ; v2 = vld [16384]}"),
                "same VMEM bank");
  EXPECT_OK(VerifyKernel(WithBundles("{v1 = vld [0] ; v2 = vld [4096]}"),
                         GoodMachine()));
  // Relative to one register, whatever it holds.
  EXPECT_BROKEN(WithBundles("{s1 = sld [0]} {nop 5} {s2 = sadd.s32 s1, 512} "
                            "{v1 = vld [s1] ; v2 = vld [s2+16384]}"),
                "same VMEM bank");
  EXPECT_OK(VerifyKernel(WithBundles("{s1 = sld [0] } {s2 = sld [4]} {nop 5} "
                                     "{v1 = vld [s1] ; v2 = vld [s2+16384]}"),
                         GoodMachine()));
  // Halves of a register in different rows of the bank cycle.
  EXPECT_OK(
      VerifyKernel(WithBundles("{v1 = vld.bcast [0] ; v2 = vld.bcast [512]}"),
                   GoodMachine()));
  EXPECT_BROKEN(WithBundles("{v1 = vld.bcast [0] ; v2 = vld.str [16384], "
                            "stride=4096, group=4}"),
                "same VMEM bank");
}

TEST(VerifierTest, AddressesThatMoveInALoopAreNotMistaken) {
  // s1 and s2 move differently: nothing is known after the first iteration.
  EXPECT_OK(VerifyKernel(
      WithStep("block \"a\" {{s1 = smov 0} {s2 = smov 4096}} "
               "loop s9 step 1 times 9 { block \"b\" { "
               "{v1 = vld [s1] ; v2 = vld [s2]} {s1 = sadd.s32 s1, 16384} "
               "{s2 = sadd.s32 s2, 32768} } }"),
      GoodMachine()));
  // The same counter on two known addresses: they stay as far apart.
  EXPECT_BROKEN(WithStep("block \"a\" {{s1 = smov 0} {s2 = smov 4096}} "
                         "loop s9 step 512 times 9 { block \"b\" { "
                         "{s3 = sadd.s32 s1, s9} {s4 = sadd.s32 s9, s2} "
                         "{v1 = vld [s3] ; v2 = vld [s4+12288]} } }"),
                "same VMEM bank");
  EXPECT_OK(
      VerifyKernel(WithStep("block \"a\" {{s1 = smov 0} {s2 = smov 4096}} "
                            "loop s9 step 512 times 9 { block \"b\" { "
                            "{s3 = sadd.s32 s1, s9} {s4 = sadd.s32 s9, s2} "
                            "{v1 = vld [s3] ; v2 = vld [s4+8192]} } }"),
                   GoodMachine()));
}

TEST(VerifierTest, ResidentArgumentsBeginAtBankZero) {
  Kernel k = WithBundles(
      "{s1 = swin w0 ; s2 = swin w1} {v1 = vld [s1] ; v2 = vld [s2]}");
  k.args = {{"a", Space::kVmem, Direction::kIn, 1 << 16},
            {"b", Space::kVmem, Direction::kIn, 1 << 16}};
  Window w;
  w.dims = {{4, 16, 4096, 4096, 0}};
  w.inner_bytes = 4096;
  k.windows = {w, w};
  k.windows[1].arg = 1;
  EXPECT_BROKEN(k, "same VMEM bank");
  k.windows[1].hbm_offset = 4096;
  k.windows[1].dims[0].extent = 8;
  EXPECT_OK(VerifyKernel(k, GoodMachine()));
  // Blocks that begin anywhere: nothing is known.
  k.windows[1].hbm_offset = 0;
  k.windows[1].dims[0].advance = 1;
  EXPECT_OK(VerifyKernel(k, GoodMachine()));
}

TEST(VerifierTest, CodeEndsInReasonableTime) {
  EXPECT_BROKEN(WithStep("loop s1 step 1 times 1000000000000 { loop s2 step 1 "
                         "times 1000000000000 { block \"\" { {nop 1} } } }"),
                "1e15 cycles");
}

TEST(VerifierTest, GuardsAreForPlainInstructions) {
  EXPECT_BROKEN(WithBundles("{@p1 vpow2.f32 v1}"), "has no guard");
  EXPECT_BROKEN(WithBundles("{@p1 vsyncadd sem0, 0}"), "has no guard");
}

TEST(VerifierTest, WindowsStayInsideTheirArguments) {
  Kernel k = GoodKernel();
  k.windows[0].dims[0].extent = 33;
  EXPECT_BROKEN(k, "window w0: it reaches byte 16896 of arg0");
  k = GoodKernel();
  k.windows[0].slot_bytes = 4095;
  EXPECT_BROKEN(k, "its block ends at byte 4096 of a slot of 4095");
  k = GoodKernel();
  k.windows[1].arg = 0;
  EXPECT_BROKEN(k, "direction");
  k = GoodKernel();
  k.windows[0].dims[0].grid_dim = 1;
  EXPECT_BROKEN(k, "grid dimension 1");
}

TEST(VerifierTest, VmemFitsAndSlotsDoNotOverlap) {
  MachineModel m = GoodMachine();
  m.vmem_bytes = 40000;
  EXPECT_THAT(VerifyKernel(GoodKernel(), m),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("bytes of VMEM; the core has 40000")));
  Kernel k = GoodKernel();
  k.windows[1].vmem_offset = 4096;
  EXPECT_BROKEN(k, "VMEM ranges overlap");
}

TEST(VerifierTest, WindowsAreStartedAndAwaited) {
  Kernel k = GoodKernel();
  k.entry.clear();
  EXPECT_BROKEN(k, "window w0: an input is started 0 times in entry");
  k = GoodKernel();
  k.exit.clear();
  EXPECT_BROKEN(k, "window w1: an output is awaited 0 times in exit");
  k = GoodKernel();
  k.step = *ParseCode(
      "block \"s\" { { dma.wait w0 } {dma.start w0} "
      "{dma.start w1} }");
  EXPECT_BROKEN(k, "slot is awaited 0 times");
  k.step = *ParseCode(
      "block \"s\" { { dma.wait w1 } {dma.start w0} "
      "{dma.start w1} }");
  EXPECT_BROKEN(k, "an input is started 1 and awaited 0");
}

TEST(VerifierTest, SemaphoresBalance) {
  EXPECT_BROKEN(WithBundles("{vsyncadd sem0, 8} {dma.done.wait sem0, 4}"),
                "semaphore 0 ends at 16");
  EXPECT_OK(VerifyKernel(
      WithStep("loop s9 step 1 times 2 { block \"b\" { {vsyncadd sem0, 4} } } "
               "block \"w\" { {dma.done.wait sem0, 8} }"),
      GoodMachine()));
  EXPECT_BROKEN(WithBundles("{vsyncadd sem1, 8}"), "only 1 of these");
}

TEST(VerifierTest, WhenIsForStepsOnly) {
  Kernel k = GoodKernel();
  k.exit = *ParseCode("when first 0 { block \"x\" { { dma.wait w1 } } }");
  EXPECT_BROKEN(k, "for steps only");
  EXPECT_BROKEN(WithStep("when first 1 { }"), "grid dimension 1");
}

}  // namespace
}  // namespace ptxla::isa
