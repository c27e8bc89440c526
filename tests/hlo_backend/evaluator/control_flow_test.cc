#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo_backend/ir/parser.h"
#include "tests/hlo_backend/evaluator/evaluate_text.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

using ::testing::HasSubstr;

// x[i] = i for i < n, by dynamic-update-slice in a loop.
constexpr char kFillLoop[] = R"(HloModule m
cond {
  s = (s32[], s32[100000]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(20000)
  ROOT c = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], s32[100000]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = s32[100000] get-tuple-element(s), index=1
  v = s32[1] reshape(i)
  y = s32[100000] dynamic-update-slice(x, v, i)
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT t = (s32[], s32[100000]) tuple(j, y)
}
ENTRY e {
  z = s32[] constant(0)
  zeros = s32[100000] broadcast(z), dimensions={}
  t = (s32[], s32[100000]) tuple(z, zeros)
  w = (s32[], s32[100000]) while(t), condition=cond, body=body
  ROOT x = s32[100000] get-tuple-element(w), index=1
}
)";

// Copying the array in each of 20,000 iterations would move 8 GB.
TEST(WhileTest, UpdatesItsStateInPlace) {
  const auto result = EvaluateText(kFillLoop, {});
  ASSERT_OK(result.status());
  EXPECT_EQ(result->Get<int32_t>(19999), 19999);
  EXPECT_EQ(result->Get<int32_t>(20000), 0);
}

TEST(WhileTest, ALoopWithoutEndIsRefusedByName) {
  EvaluatorOptions options;
  options.max_while_iterations = 1000;
  const auto result = EvaluateText(R"(HloModule m
c {
  x = s32[] parameter(0)
  ROOT t = pred[] constant(true)
}
b {
  ROOT x = s32[] parameter(0)
}
ENTRY e {
  z = s32[] constant(0)
  ROOT forever = s32[] while(z), condition=c, body=b
})",
                                   {}, options);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(result.status().message(), HasSubstr("11:8: %forever = while"));
}

TEST(ErrorsTest, ACustomCallIsNamedWithItsLine) {
  const auto result = EvaluateText(R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  ROOT y = f32[2] custom-call(x), custom_call_target="foreign"
})",
                                   {Literal::FromVector<float>({2}, {1, 2})});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(result.status().message(), HasSubstr("4:8: %y = custom-call"));
  EXPECT_THAT(result.status().message(), HasSubstr("\"foreign\""));
}

TEST(ErrorsTest, WrongArgumentsAreRefused) {
  const char text[] = R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  ROOT y = f32[2] negate(x)
})";
  EXPECT_THAT(EvaluateText(text, {}).status().message(),
              HasSubstr("takes 1 arguments, not 0"));
  EXPECT_THAT(EvaluateText(text, {Literal::FromVector<float>({3}, {1, 2, 3})})
                  .status()
                  .message(),
              HasSubstr("argument 0 is f32[3]"));
}

TEST(ErrorsTest, AnElidedConstantNeedsAWord) {
  const char text[] = R"(HloModule m
ENTRY e {
  ROOT x = s32[4] constant({...})
})";
  EXPECT_EQ(EvaluateText(text, {}).status().code(),
            absl::StatusCode::kUnimplemented);
  EvaluatorOptions options;
  options.elided = EvaluatorOptions::Elided::kIota;
  const auto result = EvaluateText(text, {}, options);
  ASSERT_OK(result.status());
  EXPECT_EQ(result->ToString(), "{0, 1, 2, 3}");
}

TEST(ErrorsTest, WhatIsNotReachedIsNotRefused) {
  const auto result = EvaluateText(R"(HloModule m
ENTRY e {
  x = f32[] constant(2)
  dead = f32[] custom-call(x), custom_call_target="foreign"
  ROOT y = f32[] negate(x)
})",
                                   {});
  ASSERT_OK(result.status());
  EXPECT_EQ(result->Get<float>(0), -2.0f);
}

TEST(CallTest, FusionsAndCallsAreTheirBodies) {
  const auto result = EvaluateText(R"(HloModule m
f {
  a = f32[2] parameter(0)
  b = f32[2] parameter(1)
  c = f32[2] subtract(a, b)
  ROOT t = (f32[2], f32[2]) tuple(c, a)
}
g {
  a = f32[2] parameter(0)
  ROOT n = f32[2] negate(a)
}
ENTRY e {
  x = f32[2] constant({5, 7})
  y = f32[2] constant({1, 2})
  t = (f32[2], f32[2]) fusion(x, y), kind=kLoop, calls=f
  d = f32[2] get-tuple-element(t), index=0
  n = f32[2] call(d), to_apply=g
  ROOT r = (f32[2], (f32[2], f32[2])) tuple(n, t)
})",
                                   {});
  ASSERT_OK(result.status());
  const std::vector<Literal> leaves = Flatten(*result);
  EXPECT_EQ(leaves[0].ToString(), "{-4, -5}");
  EXPECT_EQ(leaves[1].ToString(), "{4, 5}");
  EXPECT_EQ(leaves[2].ToString(), "{5, 7}");
}

TEST(EvaluatorTest, ArgumentsSurviveARun) {
  const auto module = ParseModule(R"(HloModule m
ENTRY e {
  x = f32[3] parameter(0)
  y = f32[3] negate(x)
  ROOT z = f32[3] add(y, y)
})");
  ASSERT_OK(module.status());
  Evaluator evaluator(module->get());
  const std::vector<Literal> arguments = {
      Literal::FromVector<float>({3}, {1, 2, 3})};
  for (int run = 0; run < 3; ++run) {
    const auto result = evaluator.Run(arguments);
    ASSERT_OK(result.status());
    EXPECT_EQ(result->ToString(), "{-2, -4, -6}");
  }
  EXPECT_EQ(arguments[0].ToString(), "{1, 2, 3}");
}

}  // namespace
}  // namespace ptxla::hlo
