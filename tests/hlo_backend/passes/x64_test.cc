// 64-bit arithmetic on pairs of words gives the same numbers.
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
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
        "ROOT r = @[12] minimum(x, y)",
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

TEST(X64TextTest, DivisionIsRefusedByName) {
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(R"(HloModule m
ENTRY e {
  p = s64[8] parameter(0)
  ROOT quotient = s64[8] divide(p, p)
}
)"));
  ASSERT_OK_AND_ASSIGN(Pipeline p, Pipeline::FromNames("x64-elimination"));
  EXPECT_THAT(p.Run(module.get(), {}).status(),
              ::ptxla::testing::StatusIs(absl::StatusCode::kUnimplemented,
                                         ::testing::HasSubstr("quotient")));
}

}  // namespace
}  // namespace ptxla::hlo
