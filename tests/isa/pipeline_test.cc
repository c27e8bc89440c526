#include "isa/pipeline.h"

#include "isa/asm.h"
#include "tests/support/status_matchers.h"

namespace ptxla::isa {
namespace {

using ::ptxla::testing::StatusIs;
using ::testing::HasSubstr;

MachineModel V6eLike() {
  MachineModel m = MachineModel::Unit();
  m.mxus = 2;
  m.mxu_rows = m.mxu_cols = 256;
  m.xlus = 2;
  m.SetSlots(Slot::kScalar, 2);
  m.SetSlots(Slot::kVector, 4);
  m.SetSlots(Slot::kXlu, 2);
  m.SetSlots(Slot::kLoad, 3);
  m.SetSlots(Slot::kStore, 2);
  m.SetSlots(Slot::kMxu, 2);
  m.SetSlots(Slot::kPop, 2);
  m.load_store_total = 4;
  m.SetLatency(LatencyKey::kValuF32, 2);
  m.SetLatency(LatencyKey::kEupF32, 13);
  m.SetLatency(LatencyKey::kMatmulBf16, 192);
  m.SetLatency(LatencyKey::kXluTransposeB32, 124);
  m.SetLatency(LatencyKey::kPushXposeToLatch, 3);
  m.SetInterval(IntervalKey::kXlu, 4);
  m.SetInterval(IntervalKey::kMatmulBf16, 8);
  m.SetInterval(IntervalKey::kPushBf16, 4);
  m.SetInterval(IntervalKey::kPopF32, 2);
  return m;
}

// Issues all blocks of `text` in order.
absl::Status Issue(Pipeline* pipeline, absl::string_view text) {
  absl::StatusOr<Code> code =
      ParseCode(absl::StrCat("block \"t\" {", text, "}"));
  if (!code.ok()) return code.status();
  const Block& block = *code->front().block();
  for (int b = 0; b < block.NumBundles(); ++b) {
    absl::Status status = pipeline->Issue(block.Bundle(b));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status IssueOn(const MachineModel& m, absl::string_view text) {
  Pipeline pipeline(m);
  return Issue(&pipeline, text);
}

auto Breaks(absl::string_view rule) {
  return StatusIs(absl::StatusCode::kInternal, HasSubstr(std::string(rule)));
}

TEST(PipelineTest, ARegisterIsReadableAfterItsLatency) {
  const MachineModel m = V6eLike();
  EXPECT_OK(IssueOn(m, "{v1 = vadd.f32 v0, v0} {nop 1} {v2 = vmov v1}"));
  EXPECT_THAT(IssueOn(m, "{v1 = vadd.f32 v0, v0} {v2 = vmov v1}"),
              Breaks("v1 is read 1 cycles before"));
  // The bundle of the write itself reads the value before it.
  EXPECT_OK(IssueOn(m, "{v1 = vadd.f32 v0, v0 ; v2 = vmov v1}"));
  EXPECT_THAT(IssueOn(m,
                      "{p1 = scmp.eq.s32 s0, 1 ; v1 = vadd.f32 v0, v0} "
                      "{@p1 v2 = vmov v1}"),
              Breaks("v1 is read"));
}

TEST(PipelineTest, WritesMustNotCross) {
  const MachineModel m = V6eLike();
  EXPECT_THAT(IssueOn(m, "{v1 = vadd.f32 v0, v0} {v1 = vmov v0}"),
              Breaks("an earlier write of v1"));
  EXPECT_THAT(IssueOn(m, "{v1 = vmov v0 ; v1 = vmov v2}"),
              Breaks("written twice"));
}

TEST(PipelineTest, SlotsAreCounted) {
  MachineModel m = V6eLike();
  EXPECT_THAT(IssueOn(m, "{s1 = smov 1 ; s2 = smov 2 ; s3 = smov 3}"),
              Breaks("slot salu holds 2"));
  EXPECT_OK(IssueOn(m,
                    "{v1 = vld [0] ; v2 = vld [4096] ; v3 = vld [8192] ; "
                    "vst [0], v4}"));
  EXPECT_THAT(IssueOn(m,
                      "{v1 = vld [0] ; v2 = vld [0] ; v3 = vld [0] ; "
                      "vst [0], v4 ; vst [0], v5}"),
              Breaks("3 loads, 2 stores"));
  EXPECT_THAT(IssueOn(m, "{nop 2 ; s1 = smov 1}"), Breaks("alone"));
  m.bundle_width = 1;
  EXPECT_THAT(IssueOn(m, "{s1 = smov 1 ; s2 = smov 2}"), Breaks("widest is 1"));
}

TEST(PipelineTest, AnEupOpTakesAVectorSlotToo) {
  MachineModel m = MachineModel::Unit();
  EXPECT_THAT(IssueOn(m, "{vpow2.f32 v1 ; v2 = vmov v3}"),
              Breaks("slot valu holds 1"));
}

TEST(PipelineTest, PopsWaitForTheResult) {
  const MachineModel m = V6eLike();
  EXPECT_OK(IssueOn(m, "{vpow2.f32 v1} {nop 12} {v2 = vpop.eup}"));
  EXPECT_THAT(IssueOn(m, "{vpow2.f32 v1} {nop 11} {v2 = vpop.eup}"),
              Breaks("popped 1 cycles before"));
  EXPECT_THAT(IssueOn(m, "{v2 = vpop.eup}"), Breaks("FIFO eup is empty"));
}

TEST(PipelineTest, UnitsKeepTheirInterval) {
  const MachineModel m = V6eLike();
  EXPECT_THAT(IssueOn(m, "{vrot.lane.xlu0 v1, 1} {vrot.lane.xlu0 v2, 1}"),
              Breaks("unit xlu is busy for 3"));
  EXPECT_OK(IssueOn(m, "{vrot.lane.xlu0 v1, 1} {vrot.lane.xlu1 v2, 1}"));
  EXPECT_THAT(IssueOn(m, "{vrot.lane.xlu2 v1, 1}"), Breaks("has 2 such units"));
}

TEST(PipelineTest, MatmulResultsComeOneIntervalApart) {
  const MachineModel m = V6eLike();
  const char kMatmul[] =
      "{vmatpush.bf16.mxu1 v1, block=1, row=0, msra} "
      "{vmatmul.bf16.mxu1 v2, latch=msra} {nop 191} {v3 = vpop.f32.mrf.mxu1} ";
  EXPECT_OK(
      IssueOn(m, absl::StrCat(kMatmul, "{nop 1} {v4 = vpop.f32.mrf.mxu1}")));
  EXPECT_THAT(IssueOn(m, absl::StrCat(kMatmul, "{v4 = vpop.f32.mrf.mxu1}")),
              Breaks("busy"));
  EXPECT_THAT(IssueOn(m, absl::StrCat(kMatmul, "{v4 = vpop.s32.mrf.mxu1}")),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("mrf")));
}

TEST(PipelineTest, FifosOverflowWhenResultsWait) {
  MachineModel m = MachineModel::Unit();
  m.SetFifoDepth(Fifo::kEup, 2);
  EXPECT_OK(IssueOn(m, "{vpow2.f32 v1} {vpow2.f32 v1} {v2 = vpop.eup}"));
  EXPECT_THAT(IssueOn(m,
                      "{vpow2.f32 v1} {vpow2.f32 v1} {vpow2.f32 v1} {nop 1} "
                      "{v2 = vpop.eup}"),
              Breaks("holds 2 results and overflowed"));
}

TEST(PipelineTest, ALatchWaitsForItsPushes) {
  const MachineModel m = V6eLike();
  EXPECT_THAT(
      IssueOn(m,
              "{vmatpush.bf16.xpose.mxu0 v1, block=1, row=0, msra} {nop 1}"
              "{vmatmul.bf16.mxu0 v2, latch=msra}"),
      Breaks("latches 1 cycles too early"));
  EXPECT_THAT(IssueOn(m, "{vmatpush.bf16.mxu0 v1, block=1, row=0, msrb}"),
              Breaks("no such staging"));
  EXPECT_THAT(IssueOn(m, "{vmatpush.bf16.mxu0 v1, block=1, row=120, msra}"),
              Breaks("rows outside"));
}

TEST(PipelineTest, A128ArrayHasNoSecondOperand) {
  const MachineModel m = MachineModel::Unit();
  EXPECT_THAT(IssueOn(m, "{vmatprep.subr.mxu0 v1}"), Breaks("128-wide"));
  EXPECT_THAT(IssueOn(m, "{vmatpush.bf16.mxu0 v1, block=2, row=0, msra}"),
              Breaks("no such block"));
}

// A full 128x128 transpose: 16 pushes 4 apart; first result 124 after the
// first push, last 124 after the last.
TEST(PipelineTest, TransposesStreamTheirResults) {
  const MachineModel m = V6eLike();
  std::string text = "{vxpose.b32.start.xlu0 v1} {nop 3}";
  for (int i = 1; i < 15; ++i) text += "{vxpose.b32.cont.xlu0 v1} {nop 3}";
  text += "{vxpose.b32.end.xlu0 v1, 16}";  // cycle 60
  EXPECT_OK(IssueOn(m, text + "{nop 63} {v2 = vpop.trf.xlu0}"));
  EXPECT_THAT(IssueOn(m, text + "{nop 62} {v2 = vpop.trf.xlu0}"),
              Breaks("popped 1 cycles before"));
  std::string pops = text + "{nop 63}";
  for (int i = 0; i < 15; ++i) pops += "{v2 = vpop.trf.xlu0} {nop 3}";
  EXPECT_OK(IssueOn(m, pops + "{v2 = vpop.trf.xlu0}"));
  EXPECT_THAT(IssueOn(m, "{vxpose.b32.cont.xlu0 v1}"), Breaks("no transpose"));
}

TEST(PipelineTest, DrainedMeansNothingInFlight) {
  const MachineModel m = V6eLike();
  Pipeline pipeline(m);
  EXPECT_OK(pipeline.CheckDrained());
  EXPECT_OK(Issue(&pipeline, "{vpow2.f32 v1}"));
  EXPECT_THAT(pipeline.CheckDrained(), Breaks("FIFO eup"));
  EXPECT_OK(Issue(&pipeline, "{nop 12} {v2 = vpop.eup}"));
  EXPECT_OK(pipeline.CheckDrained());
  EXPECT_OK(Issue(&pipeline, "{v1 = vadd.f32 v2, v2}"));
  EXPECT_THAT(pipeline.CheckDrained(), Breaks("v1 is still being written"));
}

TEST(PipelineTest, ChipsLackInstructions) {
  MachineModel m = V6eLike();
  m.SetLatency(LatencyKey::kValuBf16, 0);
  EXPECT_THAT(IssueOn(m, "{v1 = vadd.bf16 v2, v3}"),
              Breaks("has no vadd.bf16"));
  m.vregs = 32;
  EXPECT_THAT(IssueOn(m, "{v1 = vmov v32}"), Breaks("the chip has no v32"));
}

}  // namespace
}  // namespace ptxla::isa
