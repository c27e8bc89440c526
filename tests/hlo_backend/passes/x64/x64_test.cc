// 64-bit arithmetic on pairs of words gives the same numbers.
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "base/status.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/passes/pipeline.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

const std::vector<int64_t> kLeft = {0,          1,          -1,
                                    4294967295, 4294967296, -4294967296,
                                    INT64_MAX,  INT64_MIN,  123456789012345,
                                    -987654321, 2147483648, -2147483649};
const std::vector<int64_t> kRight = {5,       -7,         4294967295, 1,
                                     -1,      4294967297, 2,          INT64_MAX,
                                     -214013, 2531011,    -4,         63};

// Of a module without arguments, as it is and on pairs of words.
struct Values {
  Literal expected, actual;
};

absl::StatusOr<Values> ValuesOf(const std::string& text) {
  ASSIGN_OR_RETURN(const auto module, ParseModule(text));
  Values values;
  ASSIGN_OR_RETURN(values.expected, Evaluate(*module, {}));
  ASSIGN_OR_RETURN(Pipeline p, Pipeline::FromNames("x64-elimination"));
  RETURN_IF_ERROR(p.Run(module.get(), {}).status());
  ASSIGN_OR_RETURN(values.actual, Evaluate(*module, {}));
  return values;
}

class X64Test : public ::testing::TestWithParam<std::string> {};

TEST_P(X64Test, PairsComputeTheSame) {
  for (const char* type : {"s64", "u64"}) {
    const std::string text = absl::StrFormat(
        "HloModule m\nENTRY e {\n x = %1$s[12] parameter(0)\n"
        " y = %1$s[12] parameter(1)\n%2$s\n}\n",
        type, absl::StrReplaceAll(GetParam(), {{"@", type}}));
    ASSERT_OK_AND_ASSIGN(auto module, ParseModule(text));
    const Shape shape = module->entry()->parameter(0)->shape();
    Literal x(shape), y(shape);
    for (int i = 0; i < 12; ++i) {
      x.SetInt(i, kLeft[i]);
      y.SetInt(i, kRight[i]);
    }
    ASSERT_OK_AND_ASSIGN(Literal expected, Evaluate(*module, {x, y}));
    ASSERT_OK_AND_ASSIGN(Pipeline p, Pipeline::FromNames("x64-elimination"));
    ASSERT_OK(p.Run(module.get(), {}).status());
    ASSERT_OK(VerifyModule(*module));
    for (const Instruction* i : module->entry()->instructions()) {
      if (i->opcode() == Opcode::kParameter ||
          i->opcode() == Opcode::kCustomCall) {
        continue;
      }
      ASSERT_LE(BitWidth(i->shape().type()), 32) << i->ToString();
    }
    ASSERT_OK_AND_ASSIGN(Literal actual, Evaluate(*module, {x, y}));
    EXPECT_EQ(actual.ToString(), expected.ToString()) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Operations, X64Test,
    ::testing::Values(
        "ROOT r = @[12] add(x, y)", "ROOT r = @[12] subtract(x, y)",
        "ROOT r = @[12] multiply(x, y)", "ROOT r = @[12] and(x, y)",
        "ROOT r = @[12] xor(x, y)", "ROOT r = @[12] not(x)",
        "ROOT r = @[12] negate(x)", "ROOT r = @[12] maximum(x, y)",
        "ROOT r = @[12] minimum(x, y)", "ROOT r = @[12] divide(x, y)",
        "ROOT r = @[12] remainder(x, y)", "ROOT r = @[12] sign(x)",
        "ROOT r = @[12] popcnt(x)", "ROOT r = @[12] count-leading-zeros(x)",
        "ROOT r = @[12] clamp(y, x, y)", "ROOT r = @[12] or(x, y)",
        "ROOT r = @[12] abs(x)",
        "c = @[] constant(3)\n b = @[12] broadcast(c), dimensions={}\n"
        "ROOT r = @[12] power(x, b)",
        "c = @[] constant(0)\n b = @[12] broadcast(c), dimensions={}\n"
        "ROOT r = @[12] divide(x, b)",
        "i = s64[12] bitcast-convert(x)\nROOT r = u64[12] bitcast-convert(i)",
        "w = u32[12,2] bitcast-convert(x)\nROOT r = @[12] bitcast-convert(w)",
        "ROOT r = pred[12] compare(x, y), direction=LT",
        "ROOT r = pred[12] compare(x, y), direction=GE",
        "ROOT r = pred[12] compare(x, y), direction=EQ",
        "ROOT r = pred[12] compare(x, y), direction=NE",
        "c = @[] constant(5)\n b = @[12] broadcast(c), dimensions={}\n"
        "ROOT r = @[12] shift-left(x, b)",
        "c = @[] constant(37)\n b = @[12] broadcast(c), dimensions={}\n"
        "ROOT r = @[12] shift-right-logical(x, b)",
        "c = @[] constant(37)\n b = @[12] broadcast(c), dimensions={}\n"
        "ROOT r = @[12] shift-right-arithmetic(x, b)",
        "c = @[] constant(0)\n b = @[12] broadcast(c), dimensions={}\n"
        "ROOT r = @[12] shift-left(x, b)",
        // Amounts of 2^32 and more, too.
        "ROOT r = @[12] shift-left(x, y)",
        "ROOT r = @[12] shift-right-logical(x, y)",
        "ROOT r = @[12] shift-right-arithmetic(x, y)",
        "ROOT r = u32[12] convert(x)", "ROOT r = s32[12] convert(x)",
        "ROOT r = pred[12] convert(x)",
        "h = s32[12] convert(x)\nROOT r = @[12] convert(h)",
        "h = u8[12] convert(x)\nROOT r = @[12] convert(h)",
        "p = pred[12] compare(x, y), direction=GT\n"
        "ROOT r = @[12] select(p, x, y)",
        "a = @[3,4] reshape(x)\n b = @[4,3] transpose(a), dimensions={1,0}\n"
        "ROOT r = @[2,3] slice(b), slice={[1:3], [0:3]}",
        "ROOT r = @[24] concatenate(x, y), dimensions={0}"));

TEST(X64TextTest, AParameterKeepsItsShape) {
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(R"(HloModule m
ENTRY e {
  p = s64[8,128] parameter(0)
  ROOT c = f32[8,128] convert(p)
}
)"));
  ASSERT_OK_AND_ASSIGN(Pipeline p, Pipeline::FromNames("x64-elimination"));
  ASSERT_OK(p.Run(module.get(), {}).status());
  EXPECT_EQ(module->entry()->parameter(0)->shape().type(), PrimitiveType::kS64);
}

TEST(X64TextTest, FloatsBeyondTheIntegersBecomeTheLastOne) {
  for (const char* type : {"s64", "u64"}) {
    const std::string text = absl::StrFormat(
        "HloModule m\nENTRY e {\n x = f32[9] constant({0, -0.75, 1.5, -4, "
        "1e10, "
        "-1e10, 1e30, -1e30, inf})\n ROOT r = %s[9] convert(x)\n}\n",
        type);
    ASSERT_OK_AND_ASSIGN(const Values v, ValuesOf(text));
    EXPECT_EQ(v.actual.ToString(), v.expected.ToString()) << type;
  }
}

// Both ends of the ranges, where the high part of a pair is rounded to a power
// of two beyond them; what lies outside becomes the last number, NaN 0.
TEST(X64TextTest, F64BecomesTheNearestIntegerThatThereIs) {
  for (const char* type : {"s32", "u32", "s64", "u64", "s8", "u16"}) {
    const std::string text = absl::StrFormat(
        "HloModule m\nENTRY e {\n x = f64[18] constant({2147483647, "
        "2147483600, "
        "-2147483648, -2147483647, 4294967295, 3, 16777217, -5.7, 127.9999999, "
        "-128.5, 65535.5, 2147483647.75, 1e10, -1e10, 1e30, -1e30, inf, nan})\n"
        " ROOT r = %s[18] convert(x)\n}\n",
        type);
    ASSERT_OK_AND_ASSIGN(const Values v, ValuesOf(text));
    EXPECT_EQ(v.actual.ToString(), v.expected.ToString()) << type;
  }
}

TEST(X64TextTest, HalvesOfPairsAreRoundedAsOneNumber) {
  for (const char* op :
       {"floor", "ceil", "round-nearest-even", "round-nearest-afz"}) {
    const std::string text = absl::StrFormat(
        "HloModule m\nENTRY e {\n x = f64[14] constant({0.5, 1.5, 2.5, -0.5, "
        "-1.5, 2.5000000001, 2.4999999999, -3.4999999999, 16777217.5, "
        "16777216.5, 33554433, -16777217.4, 8388608.5, 123456789.75})\n"
        " ROOT r = f64[14] %s(x)\n}\n",
        op);
    ASSERT_OK_AND_ASSIGN(const Values v, ValuesOf(text));
    for (int i = 0; i < 14; ++i) {
      EXPECT_EQ(v.actual.GetDouble(i), v.expected.GetDouble(i)) << op << i;
    }
  }
}

// As sorts have it: NaN has a place, and -0 comes before 0.
TEST(X64TextTest, FloatsHaveTheirTotalOrder) {
  for (const char* direction : {"LT", "GE", "EQ", "NE"}) {
    ASSERT_OK_AND_ASSIGN(const Values v, ValuesOf(absl::StrFormat(R"(HloModule m
ENTRY e {
  x = f64[9] constant({0, -0, nan, -nan, inf, nan, 1, 1.00000000001, -2})
  y = f64[9] constant({-0, 0, 1, 1, nan, nan, 1.00000000001, 1, -2})
  ROOT r = pred[9] compare(x, y), direction=%s, type=TOTALORDER
}
)",
                                                                  direction)));
    EXPECT_EQ(v.actual.ToString(), v.expected.ToString()) << direction;
  }
}

TEST(X64TextTest, TheRestOfALongQuotientIsExact) {
  ASSERT_OK_AND_ASSIGN(const Values v, ValuesOf(R"(HloModule m
ENTRY e {
  x = f64[8] constant({1e9, -1000000007, 1e12, 16777217, 5.5, -6, 2, 3})
  y = f64[8] constant({7, 7, 3, -5, 0.125, 3, inf, -4})
  ROOT r = f64[8] remainder(x, y)
}
)"));
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(v.actual.GetDouble(i), v.expected.GetDouble(i)) << i;
  }
}

TEST(X64TextTest, InfinitiesStayWhatTheyAre) {
  for (const char* op : {"add", "subtract", "multiply", "divide", "maximum",
                         "minimum", "remainder"}) {
    const std::string text = absl::StrFormat(R"(HloModule m
ENTRY e {
  x = f64[8] constant({inf, -inf, inf, 1, inf, 3e30, 2, nan})
  y = f64[8] constant({1, 2, inf, -inf, -inf, 1, 0, 1})
  f = f64[8] %s(x, y)
  a = f64[8] floor(f)
  ROOT r = f64[8] round-nearest-even(a)
}
)",
                                             op);
    ASSERT_OK_AND_ASSIGN(const Values v, ValuesOf(text));
    for (int i = 0; i < 8; ++i) {
      const double e = v.expected.GetDouble(i), a = v.actual.GetDouble(i);
      EXPECT_TRUE(std::abs(a - e) <= 1e-12 * std::abs(e) || a == e ||
                  (std::isnan(a) && std::isnan(e)))
          << op << i << ": " << a << " for " << e;
    }
  }
}

TEST(X64TextTest, BitsOfAnF64AreRefusedByName) {
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(R"(HloModule m
ENTRY e {
  p = f64[8] parameter(0)
  ROOT bits = u64[8] bitcast-convert(p)
}
)"));
  ASSERT_OK_AND_ASSIGN(Pipeline p, Pipeline::FromNames("x64-elimination"));
  EXPECT_THAT(p.Run(module.get(), {}).status(),
              ::ptxla::testing::StatusIs(absl::StatusCode::kUnimplemented,
                                         ::testing::HasSubstr("bits")));
}

TEST(X64ReduceTest, WordsAreReducedApart) {
  for (const char* type : {"s64", "u64"}) {
    for (const char* op :
         {"add", "maximum", "minimum", "and", "or", "xor", "multiply"}) {
      ASSERT_OK_AND_ASSIGN(auto module,
                           ParseModule(absl::StrFormat(R"(HloModule m
op {
  a = %1$s[] parameter(0)
  b = %1$s[] parameter(1)
  ROOT c = %1$s[] %2$s(a, b)
}
ENTRY e {
  x = %1$s[12] parameter(0)
  y = %1$s[12] parameter(1)
  m = %1$s[3,4] reshape(x)
  s = %1$s[1] slice(y), slice={[2:3]}
  z = %1$s[] reshape(s)
  ROOT r = %1$s[3] reduce(m, z), dimensions={1}, to_apply=op
}
)",
                                                       type, op)));
      const Shape shape = module->entry()->parameter(0)->shape();
      Literal x(shape), y(shape);
      for (int i = 0; i < 12; ++i) {
        x.SetInt(i, kLeft[i]);
        y.SetInt(i, kRight[i]);
      }
      ASSERT_OK_AND_ASSIGN(Literal expected, Evaluate(*module, {x, y}));
      ASSERT_OK_AND_ASSIGN(
          Pipeline p, Pipeline::FromNames("x64-elimination,reduce-expander"));
      ASSERT_OK(p.Run(module.get(), {}).status());
      ASSERT_OK(VerifyModule(*module));
      ASSERT_OK_AND_ASSIGN(Literal actual, Evaluate(*module, {x, y}));
      EXPECT_EQ(actual.ToString(), expected.ToString()) << type << op;
    }
  }
}

TEST(X64SortTest, HalvesAreSortedTogether) {
  for (const char* type : {"s64", "u64"}) {
    ASSERT_OK_AND_ASSIGN(auto module, ParseModule(absl::StrFormat(
                                          R"(HloModule m
less {
  a = %1$s[] parameter(0)
  b = %1$s[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT c = pred[] compare(a, b), direction=LT
}
ENTRY e {
  x = %1$s[12] parameter(0)
  y = %1$s[12] parameter(1)
  k = s32[12] iota(), iota_dimension=0
  s = (%1$s[12], s32[12]) sort(x, k), dimensions={0}, to_apply=less
  v = %1$s[12] get-tuple-element(s), index=0
  n = s32[12] get-tuple-element(s), index=1
  w = %1$s[12] add(v, y)
  ROOT t = (%1$s[12], s32[12], %1$s[12]) tuple(v, n, w)
}
)",
                                          type)));
    const Shape shape = module->entry()->parameter(0)->shape();
    Literal x(shape), y(shape);
    for (int i = 0; i < 12; ++i) {
      x.SetInt(i, kLeft[i]);
      y.SetInt(i, kRight[i]);
    }
    ASSERT_OK_AND_ASSIGN(Literal expected, Evaluate(*module, {x, y}));
    ASSERT_OK_AND_ASSIGN(Pipeline p, Pipeline::FromNames("x64-elimination"));
    ASSERT_OK(p.Run(module.get(), {}).status());
    ASSERT_OK(VerifyModule(*module));
    for (const Computation* c : module->computations()) {
      for (const Instruction* i : c->instructions()) {
        EXPECT_TRUE(i->opcode() != Opcode::kSort ||
                    BitWidth(i->operand(0)->shape().type()) == 32);
      }
    }
    ASSERT_OK_AND_ASSIGN(Literal actual, Evaluate(*module, {x, y}));
    EXPECT_EQ(actual.ToString(), expected.ToString());
  }
}

}  // namespace
}  // namespace ptxla::hlo
