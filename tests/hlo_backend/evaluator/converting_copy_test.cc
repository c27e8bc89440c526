// Copies to another float type, as TPU compilers write them into scheduled
// modules.
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

}  // namespace
}  // namespace ptxla::hlo
