// stochastic-convert to floats, which XLA's CPU backend does not have (to
// integers: the fixtures).
#include "gtest/gtest.h"
#include "tests/hlo_backend/evaluator/evaluate_text.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

// A quarter of the way from 1 to the next bf16.
TEST(StochasticConvertTest, RoundsUpAsOftenAsTheFractionSays) {
  ASSERT_OK_AND_ASSIGN(const Literal result, EvaluateText(R"(HloModule m
ENTRY e {
  x = f32[4] constant({1.001953125, 1.001953125, -1.001953125, 1})
  r = u32[4] constant({1073741823, 1073741824, 0, 0})
  ROOT y = bf16[4] stochastic-convert(x, r)
})",
                                                          {}));
  EXPECT_EQ(result.GetDouble(0), 1.0078125);
  EXPECT_EQ(result.GetDouble(1), 1);
  EXPECT_EQ(result.GetDouble(2), -1.0078125);
  EXPECT_EQ(result.GetDouble(3), 1);  // exact values stay
}

TEST(StochasticConvertTest, NarrowFloatsHaveTheirOwnGaps) {
  ASSERT_OK_AND_ASSIGN(const Literal result, EvaluateText(R"(HloModule m
ENTRY e {
  x = f32[5] constant({2.5, 2.5, 1000, nan, -0.01})
  r = u16[5] constant({32767, 32768, 0, 0, 0})
  ROOT y = f4e2m1fn[5] stochastic-convert(x, r)
})",
                                                          {}));
  EXPECT_EQ(result.GetDouble(0), 3);
  EXPECT_EQ(result.GetDouble(1), 2);
  EXPECT_EQ(result.GetDouble(2), 6);  // beyond the largest: as convert
  EXPECT_EQ(result.GetDouble(4), -0.5);
}

}  // namespace
}  // namespace ptxla::hlo
