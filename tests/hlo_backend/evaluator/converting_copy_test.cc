// Copies to another float type and work on several, as TPU compilers write them
// into scheduled modules.
#include "gtest/gtest.h"
#include "tests/hlo_backend/evaluator/evaluate_text.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

TEST(ConvertingCopyTest, ACopyToBf16Rounds) {
  ASSERT_OK_AND_ASSIGN(const Literal result, EvaluateText(R"(HloModule m
ENTRY e {
  x = f32[2,2]{1,0} constant({{1.001953125, 2}, {-3, 1.01171875}})
  ROOT y = bf16[2,2]{0,1} copy(x)
})",
                                                          {}));
  EXPECT_EQ(result.shape().type(), PrimitiveType::kBf16);
  EXPECT_EQ(result.GetDouble(0), 1);
  EXPECT_EQ(result.GetDouble(1), 2);
  EXPECT_EQ(result.GetDouble(2), -3);
  EXPECT_EQ(result.GetDouble(3), 1.015625);
}

TEST(ConvertingCopyTest, APadOfF32IsRoundedAsItIsStored) {
  ASSERT_OK_AND_ASSIGN(const Literal result, EvaluateText(R"(HloModule m
ENTRY e {
  x = f32[2] constant({1.001953125, 2})
  zero = f32[] constant(0)
  ROOT y = bf16[3] pad(x, zero), padding=0_1
})",
                                                          {}));
  EXPECT_EQ(result.GetDouble(0), 1);
  EXPECT_EQ(result.GetDouble(1), 2);
  EXPECT_EQ(result.GetDouble(2), 0);
}

TEST(ConvertingCopyTest, ASumOfF32AndBf16IsRoundedAsItIsStored) {
  ASSERT_OK_AND_ASSIGN(const Literal result, EvaluateText(R"(HloModule m
ENTRY e {
  x = f32[3] constant({1, 2, -3})
  y = bf16[3] constant({0.001953125, 2, 0.5})
  ROOT z = bf16[3] add(x, y)
})",
                                                          {}));
  EXPECT_EQ(result.GetDouble(0), 1);
  EXPECT_EQ(result.GetDouble(1), 4);
  EXPECT_EQ(result.GetDouble(2), -2.5);
}

}  // namespace
}  // namespace ptxla::hlo
