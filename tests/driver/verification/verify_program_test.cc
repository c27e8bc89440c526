// Whole programs, compiled and executed bundle by bundle, against the
// evaluator; and that a wrong machine is noticed.
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "isa/semantics/mutant.h"
#include "tests/driver/verification/verify_text.h"
#include "tests/support/status_matchers.h"

namespace ptxla::driver {
namespace {

using ::testing::HasSubstr;

constexpr char kSoftmax[] = R"(HloModule softmax
max { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b) }
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[24,300] parameter(0)
  w = f32[300,130] parameter(1)
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[24] reduce(x, low), dimensions={1}, to_apply=max
  mb = f32[24,300] broadcast(m), dimensions={0}
  d = f32[24,300] subtract(x, mb)
  p = f32[24,300] exponential(d)
  s = f32[24] reduce(p, zero), dimensions={1}, to_apply=sum
  sb = f32[24,300] broadcast(s), dimensions={0}
  y = f32[24,300] divide(p, sb)
  z = f32[24,130] dot(y, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (f32[24,300], f32[24,130]) tuple(y, z)
})";

void ExpectCorrect(absl::string_view hlo,
                   std::initializer_list<const char*> slices = {"v6e-1",
                                                                "v5e-1"}) {
  for (const char* slice : slices) {
    const auto v = VerifyText(hlo, slice);
    ASSERT_TRUE(v.ok()) << slice << ": " << v.status();
    EXPECT_TRUE(v->ok()) << slice << ": " << v->Line() << "\n" << v->Details();
    EXPECT_TRUE(v->skipped.empty()) << slice << ": " << v->skipped.front();
  }
}

// On a machine with one wrong instruction the output is wrong, beyond its
// noise, whatever is said of kernels.
void ExpectOutputNoticed(absl::string_view hlo, const char* slice,
                         isa::Opcode wrong) {
  const isa::SemanticsTable mutant = isa::MutantTable(wrong);
  VerifyOptions options;
  options.semantics = &mutant;
  const auto v = VerifyText(hlo, slice, options);
  ASSERT_TRUE(v.ok()) << v.status();
  EXPECT_TRUE(Wrong(*v->Worst())) << v->Line();
}

TEST(VerifyProgramTest, AProgramComputesWhatItsHloMeans) {
  ASSERT_OK_AND_ASSIGN(const Verification v, VerifyText(kSoftmax));
  EXPECT_TRUE(v.ok()) << v.Line();
  EXPECT_EQ(v.outputs.size(), 2u);
  EXPECT_GT(v.kernels, 1);
  EXPECT_THAT(v.Line(), HasSubstr("2 outputs and"));
  ExpectCorrect(kSoftmax, {"v3-8", "v4:1x1x1", "v5e-1"});
}

// The kernel keeps f32 between operations on bf16, as the TPU compiler's does:
// what the quotient's rounding decides is no error, and a wrong quotient is.
TEST(VerifyProgramTest, WholeNumbersMayBeDecidedByRoundings) {
  constexpr char kQuantised[] = R"(HloModule quantised
ENTRY e {
  x = bf16[33,130] parameter(0)
  s = bf16[33] parameter(1)
  b = bf16[33,130] broadcast(s), dimensions={0}
  f = bf16[] constant(30)
  fb = bf16[33,130] broadcast(f), dimensions={}
  y = bf16[33,130] multiply(x, fb)
  q = bf16[33,130] divide(y, b)
  r = bf16[33,130] round-nearest-even(q)
  low = bf16[] constant(-128)
  high = bf16[] constant(127)
  c = bf16[33,130] clamp(low, r, high)
  ROOT i = s8[33,130] convert(c)
})";
  ExpectCorrect(kQuantised, {"v3-8", "v5e-1", "v6e-1", "tpu7x:1x1x1"});
  ExpectOutputNoticed(kQuantised, "v6e-1", isa::Opcode::kVmulF32);
}

// Top-p sampling: a sum of bf16 grows by less than its last bit, so that many
// elements in a row have one value, and one rounding decides all of them.
TEST(VerifyProgramTest, APlateauAtAThresholdMayFallToEitherSide) {
  constexpr char kTopP[] = R"(HloModule top_p
sum { a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT s = bf16[] add(a, b) }
ENTRY e {
  x = bf16[1,4096] parameter(0)
  p = bf16[1,4096] exponential(x)
  zero = bf16[] constant(0)
  t = bf16[1] reduce(p, zero), dimensions={1}, to_apply=sum
  tb = bf16[1,4096] broadcast(t), dimensions={0}
  q = bf16[1,4096] divide(p, tb)
  c = bf16[1,4096] reduce-window(q, zero), window={size=1x4096 pad=0_0x4095_0}, to_apply=sum
  limit = bf16[] constant(0.5)
  lb = bf16[1,4096] broadcast(limit), dimensions={}
  ROOT kept = pred[1,4096] compare(c, lb), direction=LT
})";
  ExpectCorrect(kTopP, {"v5e-1", "v6e-1"});
  ExpectOutputNoticed(kTopP, "v5e-1", isa::Opcode::kVaddF32);
}

// Who asks for equal values means the same value: no rounding excuses a mask
// that is false everywhere.
TEST(VerifyProgramTest, AMaskOfEqualValuesIsNoThreshold) {
  constexpr char kEqual[] = R"(HloModule equal
ENTRY e {
  x = bf16[16,256] parameter(0)
  n = bf16[16,256] iota(), iota_dimension=1
  z = bf16[16,256] subtract(x, x)
  y = bf16[16,256] add(n, z)
  ROOT q = pred[16,256] compare(y, n), direction=EQ
})";
  ExpectCorrect(kEqual, {"v5e-1", "v6e-1"});
  ExpectOutputNoticed(kEqual, "v5e-1", isa::Opcode::kVaddF32);
}

// A product of exactly -3, whose third is taken by the inverse of 3.
TEST(VerifyProgramTest, WholeNumbersMayBeDecidedByTheLastBits) {
  for (const char* other : {"1.5", "2", "0.75"}) {
    for (const char* sign : {"floor", "ceil"}) {
      ExpectCorrect(absl::StrCat(R"(HloModule thirds
ENTRY e {
  n = s32[9,130] iota(), iota_dimension=1
  k = s32[9,130] parameter(0)
  z = s32[9,130] subtract(k, k)
  m = s32[9,130] add(n, z)
  x = f32[9,130] convert(m)
  c = f32[] constant()",
                                 other, R"()
  b = f32[9,130] broadcast(c), dimensions={}
  y = f32[9,130] multiply(x, b)
  t = f32[] constant(-3)
  d = f32[9,130] broadcast(t), dimensions={}
  q = f32[9,130] divide(y, d)
  f = f32[9,130] )",
                                 sign, R"((q)
  ROOT i = s32[9,130] convert(f)
})"));
    }
  }
}

// As of bf16: nothing is rounded between operations, only where it is stored or
// converted.
TEST(VerifyProgramTest, EightBitFloatsMayKeepF32BetweenOperations) {
  constexpr char kChain[] = R"(HloModule chain
ENTRY e {
  x = f32[512] parameter(0)
  y = f32[512] parameter(1)
  p = f8e4m3fn[512] convert(x)
  q = f8e4m3fn[512] convert(y)
  k = f8e4m3fn[] constant(3)
  kb = f8e4m3fn[512] broadcast(k), dimensions={}
  a = f8e4m3fn[512] multiply(p, q)
  d = f8e4m3fn[512] divide(a, kb)
  s = f8e4m3fn[512] add(d, p)
  ROOT r = f32[512] convert(s)
})";
  ExpectCorrect(kChain, {"v3-8", "v5e-1", "v6e-1", "tpu7x:1x1x1"});
  const isa::SemanticsTable mutant = isa::MutantTable(isa::Opcode::kVmulF32);
  VerifyOptions options;
  options.semantics = &mutant;
  ASSERT_OK_AND_ASSIGN(const Verification v,
                       VerifyText(kChain, "v6e-1", options));
  EXPECT_FALSE(v.ok()) << v.Line();
}

// 300 * 300 is no f16, and f32 where the kernel keeps it.
TEST(VerifyProgramTest, WhatOverflowsANarrowFloatMayStayInF32) {
  ExpectCorrect(R"(HloModule large
ENTRY e {
  i = s32[512] iota(), iota_dimension=0
  x = f16[512] parameter(0)
  n = f16[512] convert(i)
  y = f16[512] multiply(n, n)
  z = f16[512] add(y, x)
  ROOT r = f32[512] convert(z)
})");
}

TEST(VerifyProgramTest, AWrongSumNamesTheFirstKernelThatHasIt) {
  const isa::SemanticsTable mutant = isa::MutantTable(isa::Opcode::kVsubF32);
  VerifyOptions options;
  options.semantics = &mutant;
  ASSERT_OK_AND_ASSIGN(const Verification v,
                       VerifyText(kSoftmax, "v6e-1", options));
  EXPECT_FALSE(v.ok());
  ASSERT_FALSE(v.wrong_kernels.empty());
  EXPECT_THAT(v.Line(), HasSubstr("WRONG"));
  EXPECT_THAT(v.Line(), HasSubstr(v.wrong_kernels.front().name));
}

TEST(VerifyProgramTest, AMutedStoreIsNoticed) {
  const isa::SemanticsTable mutant = isa::MutantTable(isa::Opcode::kVst);
  VerifyOptions options;
  options.semantics = &mutant;
  ASSERT_OK_AND_ASSIGN(const Verification v,
                       VerifyText(kSoftmax, "v6e-1", options));
  EXPECT_FALSE(v.ok());
}

// What is above the mean sums to zero: of any other number only its smallness
// means something.
TEST(VerifyProgramTest, SumsThatCancelAreJudgedByTheirTerms) {
  ExpectCorrect(R"(HloModule cancelled
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[64,256] parameter(0)
  zero = f32[] constant(0)
  part = f32[] constant(0.00390625)
  s = f32[64] reduce(x, zero), dimensions={1}, to_apply=sum
  parts = f32[64] broadcast(part), dimensions={}
  m = f32[64] multiply(s, parts)
  ms = f32[64,256] broadcast(m), dimensions={0}
  above = f32[64,256] subtract(x, ms)
  ROOT r = f32[64] reduce(above, zero), dimensions={1}, to_apply=sum
})");
}

TEST(VerifyProgramTest, SixtyFourBitValuesKeepTheirBytes) {
  ExpectCorrect(R"(HloModule wide
ENTRY e {
  a = s64[3,5] parameter(0)
  b = s64[3,5] parameter(1)
  big = s64[] constant(5000000000)
  bb = s64[3,5] broadcast(big), dimensions={}
  m = s64[3,5] multiply(a, bb)
  s = s64[3,5] add(m, b)
  c = f32[3,5] convert(b)
  ROOT t = (s64[3,5], f32[3,5]) tuple(s, c)
})");
}

TEST(VerifyProgramTest, AScatterKeepsTheRowsThatItDoesNotTouch) {
  ExpectCorrect(R"(HloModule scatter
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY e {
  i = s32[24,1] parameter(0)
  u = f32[24,128] parameter(1)
  zero = f32[] constant(0)
  table = f32[300,128] broadcast(zero), dimensions={}
  g = f32[300,128] scatter(table, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum
  p = f32[300,128] parameter(2)
  h = f32[300,128] scatter(p, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum
  q = f32[300,128] add(p, h)
  ROOT t = (f32[300,128], f32[300,128]) tuple(g, q)
})");
}

// Three column tiles of two rows do not fill a register: the last piece of a
// position starts in its middle.
TEST(VerifyProgramTest, DepthwiseWeightsMeetTheirColumns) {
  ExpectCorrect(R"(HloModule depthwise
ENTRY e {
  x = bf16[1,14,14,384] parameter(0)
  w = bf16[3,3,1,384] parameter(1)
  ROOT c = bf16[1,14,14,384] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, feature_group_count=384
})");
}

// A start takes part once, in however many steps the reduce is done.
TEST(VerifyProgramTest, AReduceOfSeveralStepsStartsOnce) {
  ExpectCorrect(R"(HloModule starts
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  x = f32[4,3,5,8,128] parameter(0)
  zero = f32[] constant(0)
  hundred = f32[] constant(100)
  a = f32[4,5] reduce(x, zero), dimensions={1,3,4}, to_apply=sum
  b = f32[4] reduce(x, hundred), dimensions={1,2,3,4}, to_apply=sum
  ROOT t = (f32[4,5], f32[4]) tuple(a, b)
})");
}

// Of compilers that drop the new state.
TEST(VerifyProgramTest, RandomBitsWithoutAStateAreTheSame) {
  ExpectCorrect(R"(HloModule bits
ENTRY e {
  seed = u64[2] parameter(0)
  ROOT r = u32[40,200] rng-bit-generator(seed), algorithm=rng_default
})");
}

TEST(VerifyProgramTest, HardwareRandomBitsAreTheEvaluators) {
  ExpectCorrect(R"(HloModule dropout
ENTRY e {
  seed = u64[2] parameter(0)
  x = f32[40,200] parameter(1)
  r = (u64[2], u32[40,200]) rng-bit-generator(seed), algorithm=rng_default
  bits = u32[40,200] get-tuple-element(r), index=1
  half = u32[] constant(2147483648)
  hb = u32[40,200] broadcast(half), dimensions={}
  keep = pred[40,200] compare(bits, hb), direction=LT
  zero = f32[] constant(0)
  zb = f32[40,200] broadcast(zero), dimensions={}
  ROOT y = f32[40,200] select(keep, x, zb)
})");
}

}  // namespace
}  // namespace ptxla::driver
