// The evaluator called on one instruction, and the arguments it makes up.
#include "hlo_backend/evaluator/evaluator.h"

#include "gtest/gtest.h"
#include "hlo_backend/ir/parser.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

TEST(EvaluateInstructionTest, FoldsOneInstruction) {
  const auto module = ParseModule(R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  ROOT y = f32[2] multiply(x, x)
})");
  ASSERT_OK(module.status());
  const Literal x = Literal::FromVector<float>({2}, {3, -4});
  const auto result =
      EvaluateInstruction(*(*module)->entry()->root(), {&x, &x});
  ASSERT_OK(result.status());
  EXPECT_EQ(result->ToString(), "{9, 16}");
}

TEST(RandomArgumentsTest, DependOnTheSeedAlone) {
  const auto module = ParseModule(R"(HloModule m
ENTRY e {
  x = f32[100] parameter(0)
  i = s32[100] parameter(1)
  ROOT t = (f32[100], s32[100]) tuple(x, i)
})");
  ASSERT_OK(module.status());
  const auto a = RandomArguments(**module, 1);
  EXPECT_TRUE(a[0] == RandomArguments(**module, 1)[0]);
  EXPECT_FALSE(a[0] == RandomArguments(**module, 2)[0]);
  for (int k = 0; k < 100; ++k) {
    EXPECT_GE(a[1].GetInt(k), 0);
    EXPECT_LT(a[1].GetInt(k), 10);
  }
}

}  // namespace
}  // namespace ptxla::hlo
