// Each opcode's mutant is noticed by a piece of code that uses the opcode.
#include "isa/semantics/mutant.h"

#include <set>

#include "core_fixture.h"

namespace ptxla::isa {
namespace {

using testing::MakeWords;
using testing::RunBundles;
using testing::Words;

// Code whose results depend on every opcode in it.
constexpr const char* kPrograms[] = {
    "{s1 = smov 3} {s2 = sadd.s32 s1, 4} {s3 = smul.u32 s2, s1} "
    "{s4 = ssub.s32 s3, 1} {s4 = sxor.u32 s4, 5} {s4 = sor.u32 s4, 256} "
    "{s4 = sand.u32 s4, 511} {s4 = sshll.u32 s4, 2} {s4 = sshrl.u32 s4, 1} "
    "{s4 = sshra.s32 s4, 1} {s4 = smax.s32 s4, s1} {s4 = smin.s32 s4, 100000} "
    "{p1 = scmp.lt.s32 s4, 0} {p2 = pneg p1} {p3 = pmov p2} "
    "{p4 = pand p2, p3} {p5 = por p1, p4} {s5 = scalar_select p5, s4, 0} "
    "{sst [8], s5} {s6 = sld [8]} {sdivrem.u32 s6, 7} {nop 2} "
    "{s7 = spop.drf} {s8 = spop.drf} {s8 = smul.u32 s8, 1000} "
    "{s7 = sadd.s32 s7, s8} "
    "{v10 = vstv s7} {s9 = scalar_select p1, s1, s2} {v11 = vstv s9}",
    "{p1 = scmp.eq.s32 s0, 0} {p2 = scmp.ne.s32 s0, 0} "
    "{p3 = scmp.le.s32 s0, 0} {p4 = scmp.gt.s32 s0, 0} "
    "{p5 = scmp.ge.s32 s0, 0} {p6 = scmp.lt.u32 s0, 1} "
    "{s1 = scalar_select p1, s0, 1} {s2 = scalar_select p2, s0, 2} "
    "{s3 = scalar_select p3, s0, 4} {s4 = scalar_select p4, s0, 8} "
    "{s5 = scalar_select p5, s0, 16} {s6 = scalar_select p6, s0, 32} "
    "{s1 = sadd.s32 s1, s2} {s3 = sadd.s32 s3, s4} {s5 = sadd.s32 s5, s6} "
    "{s1 = sadd.s32 s1, s3} {s1 = sadd.s32 s1, s5} {v10 = vstv s1}",
    "{v10 = vadd.f32 v1, v2} {v11 = vsub.f32 v1, v2} {v12 = vmul.f32 v1, v2} "
    "{v13 = vmax.f32 v1, v2} {v14 = vmin.f32 v1, v2} {v15 = vfloor.f32 v1} "
    "{v16 = vceil.f32 v1} {v17 = vround.f32 v1} {v18 = vtrunc.f32 v1} "
    "{v19 = vadd.s32 v1, v2} {v20 = vsub.s32 v1, v2} "
    "{v21 = vround.even.f32 v1} {v23 = vmax.u32 v1, v2} {v24 = vmin.u32 v1, "
    "v2} "
    "{v25 = vmul.u32 v1, v2} {v26 = vmulhi.u32 v1, v2} "
    "{v27 = vmulhi.s32 v1, v2} {v28 = vmul.u16 v1, v2}",
    "{v10 = vand.u32 v1, v2} {v11 = vor.u32 v1, v2} {v12 = vxor.u32 v1, v2} "
    "{v13 = vnot.u32 v1} {v14 = vshll.u32 v1, 3} {v15 = vshrl.u32 v1, 3} "
    "{v16 = vshra.s32 v1, 3} {v17 = vclz.u32 v1} {v18 = vpcnt.u32 v1} "
    "{v19 = vmov v1} {v20 = vimm.u32 0x5} {v21 = vlaneseq} "
    "{v22 = vadd.bf16 v1, v2} {v23 = vsub.bf16 v1, v2} "
    "{v24 = vmul.bf16 v1, v2} {v25 = vmax.bf16 v1, v2} "
    "{v26 = vmin.bf16 v1, v2} {v27 = vadd.s16 v1, v2} {v28 = vsub.s16 v1, v2}",
    "{v10 = vrot.slane v1, 1} {v11 = vbcast.slane v1, 2} "
    "{v12 = vcombine.low v1, v2} {v13 = vcombine.high v1, v2} "
    "{setrngseed v1} {s1 = smov 3} {setrngpos s1} {v14 = vrng} "
    "{v15 = vcvt.f32.s32 v1} {v17 = vcvt.s32.f32 v1} "
    "{v16 = vcvt.even.s32.f32 v1} "
    "{m1 = vweird.f32 v1} {v18 = vsel m1, v1, v2} {v19 = vpack.c.bf16 v1, v2} "
    "{v20 = vpack.i.bf16 v1, v2} {v21 = vunpack.c.l.bf16 v1} "
    "{v22 = vunpack.c.h.bf16 v1} {v23 = vunpack.i.l.bf16 v1} "
    "{v24 = vunpack.i.h.bf16 v1} {v25 = vpack.c.f16 v1, v2} "
    "{v26 = vunpack.c.l.f16 v1} {v27 = vunpack.c.h.f16 v1} "
    "{v28 = vpack.c.b16 v1, v2}",
    "{v10 = vunpack.c.l.s16 v1} {v11 = vunpack.c.h.s16 v1} "
    "{v12 = vunpack.c.l.u16 v1} {v13 = vunpack.c.h.u16 v1} "
    "{v14 = vpack.c.b8 v1, v2} {v15 = vunpack.c.0.s8 v1} "
    "{v16 = vunpack.c.1.s8 v1} {v17 = vunpack.c.2.s8 v1} "
    "{v18 = vunpack.c.3.s8 v1} {v19 = vunpack.c.0.u8 v1} "
    "{v20 = vunpack.c.1.u8 v1} {v21 = vunpack.c.2.u8 v1} "
    "{v22 = vunpack.c.3.u8 v1}",
    "{m1 = vcmp.lt.f32 v1, v2} {m2 = vcmask lanes=0:64, sublanes=0:8} "
    "{m3 = vmand m1, m2} {m4 = vmor m1, m2} {m5 = vmxor m1, m2} "
    "{m6 = vmneg m1} {m7 = vmmov m2} {v10 = vsel m3, v1, v2} "
    "{v11 = vsel m4, v1, v2} {v12 = vsel m5, v1, v2} {v13 = vsel m6, v1, v2} "
    "{v14 = vsel m7, v1, v2}",
    "{m1 = vcmp.lt.u32 v1, v2} {m2 = vcmp.le.u32 v1, v2} "
    "{m3 = vcmp.gt.u32 v1, v2} {m4 = vcmp.ge.u32 v1, v2} "
    "{v10 = vsel m1, v1, v2} {v11 = vsel m2, v1, v2} {v12 = vsel m3, v1, v2} "
    "{v13 = vsel m4, v1, v2} {vsigmoid.f32 v1} {v14 = vpop.eup}",
    "{vrcp.f32 v1} {vrsqrt.f32 v1} {vpow2.f32 v1} {vlog2.f32 v1} "
    "{vtanh.f32 v1} {verf.f32 v1} {vsinq.f32 v1} {vcosq.f32 v1} "
    "{vrcp.bf16 v1} {vrsqrt.bf16 v1} {vpow2.bf16 v1} {vlog2.bf16 v1} "
    "{vtanh.bf16 v1} {v10 = vpop.eup} {v11 = vpop.eup} {v12 = vpop.eup} "
    "{v13 = vpop.eup} {v14 = vpop.eup} {v15 = vpop.eup} {v16 = vpop.eup} "
    "{v17 = vpop.eup} {v18 = vpop.eup} {v19 = vpop.eup} {v20 = vpop.eup} "
    "{v21 = vpop.eup} {v22 = vpop.eup}",
    "{vrot.lane.xlu0 v1, 3} {vbcast.lane.xlu0 v1, 3} {vperm.xlu0 v1, v2} "
    "{vadd.xlane.f32.xlu0 v1} {vmax.xlane.f32.xlu0 v1} "
    "{vmin.xlane.f32.xlu0 v1} {vmax.xlane.bf16.xlu0 v1} "
    "{v10 = vpop.permute.xlu0} {v11 = vpop.permute.xlu0} "
    "{v12 = vpop.permute.xlu0} {v13 = vpop.xlane.xlu0} "
    "{v14 = vpop.xlane.xlu0} {v15 = vpop.xlane.xlu0} {v16 = vpop.xlane.xlu0}",
    "{vxpose.b32.start.xlu0 v1} {vxpose.b32.cont.xlu0 v2} "
    "{vxpose.b32.end.xlu0 v1, 1} {vxpose.b32.start.end.xlu1 v1, 1} "
    "{vxpose.b16.start.xlu2 v1} {vxpose.b16.cont.xlu2 v2} "
    "{vxpose.b16.end.xlu2 v1, 1} {vxpose.b16.start.end.xlu3 v1, 1} {nop 9} "
    "{v10 = vpop.trf.xlu0} {v11 = vpop.trf.xlu1} {v12 = vpop.trf.xlu2} "
    "{v13 = vpop.trf.xlu3}",
    "{vmatprep.subr.mxu0 v2} {vmatpush.f32.mxu0 v1, block=1, row=0, msra} "
    "{vmatprep.mubr.mxu0 v2} {vmatpush.f32.xpose.mxu0 v2, block=2, row=8, "
    "msra} {vmatmul.f32.mxu0 v1, latch=msra} {nop 9} "
    "{v10 = vpop.f32.mrf.mxu0} {v11 = vpop.f32.mrf.mxu0} "
    "{vmatpush.bf16.mxu1 v1, block=1, row=0, msra} "
    "{vmatpush.bf16.xpose.mxu1 v2, block=1, row=32, msra} "
    "{vmatmul.bf16.mxu1 v1, latch=msra} {nop 9} "
    "{v12 = vpop.f32.mrf.mxu1} {v13 = vpop.f32.mrf.mxu1} "
    "{v14 = vpop.f32.mrf.mxu1} {v15 = vpop.f32.mrf.mxu1} "
    "{vmatpush.s8.mxu2 v1, block=1, row=0, msra} "
    "{vmatpush.s8.xpose.mxu2 v2, block=1, row=32, msra} "
    "{vmatmul.s8.mxu2 v1, latch=msra} {nop 9} "
    "{v16 = vpop.s32.mrf.mxu2} {v17 = vpop.s32.mrf.mxu2} "
    "{v18 = vpop.s32.mrf.mxu2} {v19 = vpop.s32.mrf.mxu2} "
    "{v20 = vpop.s32.mrf.mxu2} {v21 = vpop.s32.mrf.mxu2} "
    "{v22 = vpop.s32.mrf.mxu2} {v23 = vpop.s32.mrf.mxu2}",
    "{vmatprep.subr.mxu0 v2} {vmatpush.low.f32.mxu0 v1, block=1, row=0, msra} "
    "{vmatprep.mubr.mxu0 v2} {vmatpush.low.f32.xpose.mxu0 v2, block=2, row=8, "
    "msra} {vmatmul.low.f32.mxu0 v1, latch=msra} {nop 9} "
    "{v10 = vpop.f32.mrf.mxu0} {v11 = vpop.f32.mrf.mxu0} "
    "{vmatpush.f8e5m2.mxu1 v1, block=1, row=0, msra} "
    "{vmatpush.f8e5m2.xpose.mxu1 v2, block=1, row=32, msra} "
    "{vmatmul.f8e5m2.mxu1 v1, latch=msra} {nop 9} {v12 = vpop.f32.mrf.mxu1} "
    "{v13 = vpop.f32.mrf.mxu1} {v14 = vpop.f32.mrf.mxu1} {v15 = "
    "vpop.f32.mrf.mxu1} {v16 = vpop.f32.mrf.mxu1} {v17 = vpop.f32.mrf.mxu1} "
    "{v18 = vpop.f32.mrf.mxu1} {v19 = vpop.f32.mrf.mxu1} ",
    "{vmatpush.f8e4m3fn.mxu2 v1, block=1, row=0, msra} "
    "{vmatpush.f8e4m3fn.xpose.mxu2 v2, block=1, row=32, msra} "
    "{vmatmul.f8e4m3fn.mxu2 v1, latch=msra} {nop 9} {v10 = vpop.f32.mrf.mxu2} "
    "{v11 = vpop.f32.mrf.mxu2} {v12 = vpop.f32.mrf.mxu2} {v13 = "
    "vpop.f32.mrf.mxu2} {v14 = vpop.f32.mrf.mxu2} {v15 = vpop.f32.mrf.mxu2} "
    "{v16 = vpop.f32.mrf.mxu2} {v17 = vpop.f32.mrf.mxu2} "
    "{vmatpush.f8e4m3b11.mxu3 v1, block=1, row=0, msra} "
    "{vmatpush.f8e4m3b11.xpose.mxu3 v2, block=1, row=32, msra} "
    "{vmatmul.f8e4m3b11.mxu3 v1, latch=msra} {nop 9} {v18 = vpop.f32.mrf.mxu3} "
    "{v19 = vpop.f32.mrf.mxu3} {v20 = vpop.f32.mrf.mxu3} {v21 = "
    "vpop.f32.mrf.mxu3} {v22 = vpop.f32.mrf.mxu3} {v23 = vpop.f32.mrf.mxu3} "
    "{v24 = vpop.f32.mrf.mxu3} {v25 = vpop.f32.mrf.mxu3} ",
    "{v10 = vunpack.c.l.s4 v1} {v11 = vunpack.c.h.s4 v1} "
    "{v12 = vunpack.c.0.f8e5m2 v1} {v13 = vunpack.c.1.f8e5m2 v1} "
    "{v14 = vunpack.c.2.f8e5m2 v1} {v15 = vunpack.c.3.f8e5m2 v1} "
    "{v16 = vcvt.f8e5m2.f32 v1} {v17 = vpack.w.s8 v1} {v18 = vpack.w.u8 v1} "
    "{v19 = vpack.c.b4 v1, v2}",
    "{v10 = vld.bcast [0]} {v11 = vld.str [0], stride=4096, group=4} "
    "{m1 = vcmask lanes=0:64, sublanes=0:8} {vst [65536], v1} "
    "{vst.msk [65536], v2, m1} {v12 = vld [65536]} "
    "{vst.str [131072], stride=1024, group=2, v1} "
    "{vst.str.msk [131072], stride=1024, group=2, v2, m1} "
    "{v13 = vld [131072]} {v16 = vld.even.odd.slanes1 [1024]} {vpush v1} {s1 = "
    "spop} {v14 = vstv s1} "
    "{s2 = sscratch 0} {vst [s2+262144], v2} {v15 = vld [262144]}",
};

MachineModel Machine() {
  MachineModel m = testing::Wide();
  m.mxu_rows = m.mxu_cols = 256;
  m.fifo_depth.fill(0);
  return m;
}

std::set<Opcode> OpcodesOf(absl::string_view bundles) {
  std::set<Opcode> ops;
  absl::StatusOr<Code> code =
      ParseCode(absl::StrCat("block \"\" {", bundles, "}"));
  EXPECT_OK(code);
  for (const Instr& i : code->front().block()->instrs) ops.insert(i.op);
  return ops;
}

TEST(MutantTest, EveryOpcodeOfADataPathIsNoticed) {
  const MachineModel machine = Machine();
  // Small positive floats, different everywhere.
  const std::vector<Words> inputs = {
      testing::MakeFloats([](int s, int l) { return 0.7f + s + l / 64.0f; }),
      testing::MakeFloats([](int s, int l) { return 5.3f - s / 3.0f + l; })};
  std::set<Opcode> seen;
  for (const char* program : kPrograms) {
    ASSERT_OK_AND_ASSIGN(const auto want,
                         RunBundles(program, inputs, 20, machine));
    for (Opcode op : OpcodesOf(program)) {
      if (op == Opcode::kNop) continue;
      const SemanticsTable mutant = MutantTable(op);
      InterpreterOptions options;
      options.semantics = &mutant;
      const auto got = RunBundles(program, inputs, 20, machine, options);
      EXPECT_TRUE(!got.ok() || *got != want)
          << Info(op).mnemonic << " may be anything in: " << program;
      seen.insert(op);
    }
  }
  // What is left belongs to kernels (interpreter_test) or is a compare.
  for (int op = 0; op < kNumOpcodes; ++op) {
    const InstrInfo& info = Info(static_cast<Opcode>(op));
    const bool kernel = IsDma(static_cast<Opcode>(op)) ||
                        info.operands[1] == Operand::kWindow ||
                        info.operands[1] == Operand::kArg ||
                        info.name == "Sgrid" || info.name == "ShaltErr" ||
                        info.name == "Nop";
    if (kernel || info.latency == LatencyKey::kVectorCompare) continue;
    EXPECT_TRUE(seen.count(static_cast<Opcode>(op)))
        << info.mnemonic << " is in no program of this test";
  }
}

TEST(MutantTest, ComparesAreNoticed) {
  const std::vector<Words> inputs = {
      MakeWords([](int s, int l) { return uint32_t(s * 131 + l); }),
      MakeWords([](int s, int l) { return uint32_t(s * 17 + 3 * l); })};
  for (int op = 0; op < kNumOpcodes; ++op) {
    const InstrInfo& info = Info(static_cast<Opcode>(op));
    // vweird, of one operand, is in a program above.
    if (info.latency != LatencyKey::kVectorCompare ||
        static_cast<Opcode>(op) == Opcode::kVweird) {
      continue;
    }
    const std::string code = absl::StrCat("{m1 = ", info.mnemonic,
                                          " v1, v2} {v10 = vsel m1, v1, v2}");
    ASSERT_OK_AND_ASSIGN(const auto want, RunBundles(code, inputs));
    const SemanticsTable mutant = MutantTable(static_cast<Opcode>(op));
    InterpreterOptions options;
    options.semantics = &mutant;
    ASSERT_OK_AND_ASSIGN(const auto got,
                         RunBundles(code, inputs, 1, testing::Wide(), options));
    EXPECT_NE(got, want) << info.mnemonic;
  }
}

}  // namespace
}  // namespace ptxla::isa
