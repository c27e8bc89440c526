// Operations with results that can be checked by hand.
#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hlo_backend/evaluator/evaluate_text.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

TEST(OperationsTest, Bf16RoundsAfterEveryInstruction) {
  // 1 + 1/256 is a tie and rounds to 1, twice; in one f32 sum it would not.
  EXPECT_EQ(ValueOf(R"(HloModule m
ENTRY e {
  one = bf16[] constant(1)
  small = bf16[] constant(0.00390625)
  a = bf16[] add(one, small)
  b = bf16[] add(a, small)
  ROOT c = f32[] convert(b)
})"),
            "1");
}

TEST(OperationsTest, SumsOfBf16KeepTheirDigitsInsideAReduction) {
  EXPECT_EQ(ValueOf(R"(HloModule m
f {
  a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT c = bf16[] add(a, b)
}

ENTRY e {
  one = bf16[] constant(1)
  ones = bf16[4096] broadcast(one), dimensions={}
  zero = bf16[] constant(0)
  sum = bf16[] reduce(ones, zero), dimensions={0}, to_apply=f
  ROOT c = f32[] convert(sum)
})"),
            "4096");
}

TEST(OperationsTest, FloatsSaturateWhenTheyBecomeIntegers) {
  EXPECT_EQ(ValueOf(R"(HloModule m
ENTRY e {
  x = f32[5] constant({3e9, -3e9, nan, 2.7, -2.7})
  ROOT y = s32[5] convert(x)
})"),
            "{2147483647, -2147483648, 0, 2, -2}");
}

TEST(OperationsTest, ShiftsByTheWidthAreEmptyOrTheSign) {
  EXPECT_EQ(ValueOf(R"(HloModule m
ENTRY e {
  x = s32[3] constant({-8, 8, -8})
  n = s32[3] constant({32, 33, 1})
  l = s32[3] shift-left(x, n)
  r = s32[3] shift-right-logical(x, n)
  a = s32[3] shift-right-arithmetic(x, n)
  ROOT t = (s32[3], s32[3], s32[3]) tuple(l, r, a)
})"),
            "( {0, 0, -16}, {0, 0, 2147483644}, {-1, 0, -4} )");
}

TEST(OperationsTest, ArithmeticShiftsCopyTheHighestBitOfNarrowIntegersToo) {
  EXPECT_EQ(ValueOf(R"(HloModule m
ENTRY e {
  x = u2[4] constant({0, 1, 2, 3})
  n = u2[4] constant({1, 1, 1, 3})
  y = u4[4] constant({15, 15, 7, 8})
  k = u4[4] constant({1, 9, 1, 2})
  z = s4[2] constant({-8, 5})
  j = s4[2] constant({2, -1})
  a = u2[4] shift-right-arithmetic(x, n)
  b = u4[4] shift-right-arithmetic(y, k)
  c = s4[2] shift-right-arithmetic(z, j)
  ROOT t = (u2[4], u4[4], s4[2]) tuple(a, b, c)
})"),
            "( {0, 0, 3, 3}, {15, 15, 3, 14}, {-2, 0} )");
}

TEST(OperationsTest, NanWinsMaximumAndMinimum) {
  EXPECT_EQ(ValueOf(R"(HloModule m
ENTRY e {
  x = f32[2] constant({nan, 1})
  y = f32[2] constant({1, nan})
  a = f32[2] maximum(x, y)
  b = f32[2] minimum(x, y)
  ROOT t = (f32[2], f32[2]) tuple(a, b)
})"),
            "( {nan, nan}, {nan, nan} )");
}

TEST(OperationsTest, DynamicSlicesStayInside) {
  EXPECT_EQ(ValueOf(R"(HloModule m
ENTRY e {
  x = s32[5] iota(), iota_dimension=0
  i = s32[] constant(9)
  a = s32[2] dynamic-slice(x, i), dynamic_slice_sizes={2}
  u = s32[2] constant({70, 80})
  j = s32[] constant(-4)
  b = s32[5] dynamic-update-slice(x, u, j)
  ROOT t = (s32[2], s32[5]) tuple(a, b)
})"),
            "( {3, 4}, {70, 80, 2, 3, 4} )");
}

TEST(OperationsTest, AScatterLeavesOutWindowsThatDoNotFit) {
  EXPECT_EQ(ValueOf(R"(HloModule m
f {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = s32[] add(a, b)
}

ENTRY e {
  x = s32[4] constant({0, 0, 0, 0})
  i = s32[4,1] constant({{-1}, {1}, {1}, {4}})
  u = s32[4] constant({1, 2, 3, 4})
  ROOT y = s32[4] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f
})"),
            "{0, 5, 0, 0}");
}

TEST(OperationsTest, FourBitIntegersWrap) {
  EXPECT_EQ(ValueOf(R"(HloModule m
ENTRY e {
  x = s4[2] constant({7, -8})
  one = s4[2] constant({1, -1})
  y = s4[2] add(x, one)
  ROOT z = s32[2] convert(y)
})"),
            "{-8, 7}");
}

TEST(OperationsTest, ABitcastFollowsTheLayouts) {
  // Column-major [2,3] read as row-major [3,2].
  EXPECT_EQ(ValueOf(R"(HloModule m
ENTRY e {
  x = s32[2,3]{0,1} constant({{1, 2, 3}, {4, 5, 6}})
  ROOT y = s32[3,2]{1,0} bitcast(x)
})"),
            "{ { 1, 4 }, { 2, 5 }, { 3, 6 } }");
}

TEST(OperationsTest, AWordSplitsAndCombinesExactly) {
  EXPECT_EQ(ValueOf(R"(HloModule m
ENTRY e {
  x = s64[2] constant({-5, 81985529216486895})
  l = u32[2] custom-call(x), custom_call_target="X64SplitLow"
  h = u32[2] custom-call(x), custom_call_target="X64SplitHigh"
  y = s64[2] custom-call(l, h), custom_call_target="X64Combine"
  ROOT t = (u32[2], u32[2], s64[2]) tuple(l, h, y)
})"),
            "( {4294967291, 2309737967}, {4294967295, 19088743}, {-5, "
            "81985529216486895} )");
}

// The TPU compiler lays parts of an array beside each other in memory.
TEST(OperationsTest, PartsThatLieOneBehindTheOtherAreOneArray) {
  EXPECT_EQ(ValueOf(R"(HloModule m
ENTRY e {
  a = s32[2,2]{0,1} constant({{1, 2}, {3, 4}})
  b = s32[2,1]{0,1} constant({{5}, {6}})
  ROOT y = s32[2,3]{0,1} custom-call(a, b), custom_call_target="ConcatBitcast"
})"),
            "{ { 1, 2, 5 }, { 3, 4, 6 } }");
}

TEST(OperationsTest, ADoubleSplitsIntoTwoFloats) {
  const Literal x = Literal::FromVector<double>({3}, {0.1, 1e300, -3.0});
  const auto result = EvaluateText(R"(HloModule m
ENTRY e {
  x = f64[3] parameter(0)
  l = f32[3] custom-call(x), custom_call_target="X64SplitLow"
  h = f32[3] custom-call(x), custom_call_target="X64SplitHigh"
  y = f64[3] custom-call(l, h), custom_call_target="X64Combine"
  ROOT t = (f32[3], f32[3], f64[3]) tuple(l, h, y)
})",
                                   {x});
  ASSERT_OK(result.status());
  const auto& parts = result->elements();
  EXPECT_EQ(parts[1].Get<float>(0), 0.1f);
  EXPECT_EQ(parts[0].Get<float>(0), static_cast<float>(0.1 - 0.1f));
  EXPECT_NEAR(parts[2].Get<double>(0), 0.1, 1e-15);
  EXPECT_EQ(parts[1].Get<float>(1), std::numeric_limits<float>::infinity());
  EXPECT_EQ(parts[0].Get<float>(1), 0.0f);
  EXPECT_EQ(parts[2].Get<double>(2), -3.0);
}

TEST(OperationsTest, TopKPutsEqualValuesInOrderOfTheirIndex) {
  EXPECT_EQ(ValueOf(R"(HloModule m
ENTRY e {
  x = f32[2,4] constant({{1, 3, 3, 2}, {-1, nan, 0, -2}})
  ROOT y = (f32[2,2], s32[2,2]) topk(x), k=2, largest=true
})"),
            "( { { 3, 3 }, { nan, 0 } }, { { 1, 2 }, { 1, 2 } } )");
}

TEST(RaggedDotTest, EachGroupOfRowsMeetsItsOwnMatrix) {
  // Rows 0 and 1 times 1, row 2 times 10; row 3 is in no group.
  EXPECT_EQ(ValueOf(R"(HloModule m
ENTRY e {
  x = s32[4,2] constant({{1, 2}, {3, 4}, {5, 6}, {7, 8}})
  w = s32[3,2,1] constant({{{1}, {1}}, {{100}, {100}}, {{10}, {10}}})
  n = s32[3] constant({2, 0, 1})
  ROOT y = s32[4,1] ragged-dot(x, w, n), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}
})"),
            "{ {3}, {7}, {110}, {0} }");
}

TEST(RaggedDotTest, AContractedGroupGivesItsOwnProduct) {
  EXPECT_EQ(ValueOf(R"(HloModule m
ENTRY e {
  x = s32[1,4] constant({{1, 2, 3, 4}})
  w = s32[4,1] constant({{1}, {1}, {10}, {10}})
  n = s32[3] constant({1, 2, 1})
  ROOT y = s32[3,1,1] ragged-dot(x, w, n), lhs_contracting_dims={1}, rhs_contracting_dims={0}, lhs_ragged_dims={1}
})"),
            "{ { {1} }, { {32} }, { {40} } }");
}

TEST(OperationsTest, SortIsStable) {
  EXPECT_EQ(ValueOf(R"(HloModule m
lt {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT c = pred[] compare(a, b), direction=LT
}

ENTRY e {
  k = s32[5] constant({2, 1, 2, 1, 0})
  v = s32[5] iota(), iota_dimension=0
  ROOT s = (s32[5], s32[5]) sort(k, v), dimensions={0}, to_apply=lt
})"),
            "( {0, 1, 1, 2, 2}, {4, 1, 3, 0, 2} )");
}

TEST(OperationsTest, EveryTranscendentalOfC) {
  for (const auto& [name, reference] :
       std::vector<std::pair<std::string, double (*)(double)>>{
           {"acos", std::acos},
           {"asin", std::asin},
           {"asinh", std::asinh},
           {"atanh", std::atanh},
           {"cosh", std::cosh},
           {"sinh", std::sinh}}) {
    const auto result = EvaluateText(
        absl::StrCat("HloModule m\nENTRY e {\n  x = f32[] parameter(0)\n  "
                     "ROOT y = f32[] ",
                     name, "(x)\n}\n"),
        {Literal::Scalar<float>(0.3f)});
    ASSERT_OK(result.status()) << name;
    EXPECT_FLOAT_EQ(result->Get<float>(0), reference(double{0.3f})) << name;
  }
}

}  // namespace
}  // namespace ptxla::hlo
