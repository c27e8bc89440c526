#include "isa/matmul_type.h"

#include "isa/asm.h"
#include "tests/support/status_matchers.h"

namespace ptxla::isa {
namespace {

chips::MatmulType TypeOfStep(const std::string& bundle) {
  Kernel kernel;
  auto code = ParseCode(
      "block \"load\" { { v1 = vld [s1] } }\nloop s2 step 1 times 4 "
      "{ block \"body\" { " +
      bundle + " } }");
  EXPECT_OK(code);
  if (code.ok()) kernel.step = *std::move(code);
  return MatmulTypeOf(kernel);
}

TEST(MatmulTypeTest, IsThatOfTheFirstMatmulInTheStep) {
  EXPECT_EQ(TypeOfStep("{ vmatmul.s8 v1 }"), chips::MatmulType::kInt8);
  EXPECT_EQ(TypeOfStep("{ vmatmul.f8e5m2 v1 }"), chips::MatmulType::kFp8);
  EXPECT_EQ(TypeOfStep("{ vmatmul.f32 v1 }"), chips::MatmulType::kF32);
}

TEST(MatmulTypeTest, OfProductsOnTheVpuIsBf16) {
  EXPECT_EQ(TypeOfStep("{ v2 = vmul.f32 v1, v1 }"), chips::MatmulType::kBf16);
}

}  // namespace
}  // namespace ptxla::isa
