// What cannot be evaluated is refused by name, with the line and the reason;
// what is out of range says by how much.
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hlo_backend/evaluator/evaluate_text.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

using ::ptxla::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

absl::Status Refusal(absl::string_view entry,
                     const std::vector<Literal>& arguments = {}) {
  return EvaluateText(absl::StrCat("HloModule m\nENTRY e {\n", entry, "\n}"),
                      arguments)
      .status();
}

TEST(RefusalsTest, WhatReachesOutOfTheModuleSaysSo) {
  EXPECT_THAT(Refusal("t = token[] after-all()\n"
                      "ROOT r = (f32[2], token[]) infeed(t)"),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("4: %r = infeed: what it gives is not in the "
                                 "module")));
  EXPECT_THAT(
      Refusal("t = token[] after-all()\nx = f32[2] constant({1, 2})\n"
              "ROOT s = (f32[2], u32[], token[]) send(x, t), channel_id=1"),
      StatusIs(absl::StatusCode::kUnimplemented,
               HasSubstr("%s = send: the other end of a channel is not in the "
                         "module")));
}

constexpr char kThreeOfFour[] =
    "x = f32[4] constant({4, 3, 2, 1})\nn = s32[] constant(3)\n"
    "y = f32[<=4] set-dimension-size(x, n), dimensions={0}\n";

TEST(RefusalsTest, AnOperationThatDoesNotKnowDynamicSizesIsNamed) {
  EXPECT_THAT(
      Refusal(absl::StrCat(kThreeOfFour,
                           "ROOT r = f32[<=4] reverse(y), dimensions={0}")),
      StatusIs(absl::StatusCode::kUnimplemented,
               HasSubstr("%r = reverse: of an array of dynamic size")));
}

TEST(RefusalsTest, ASizeBeyondItsBoundIsAnError) {
  EXPECT_THAT(
      Refusal("x = f32[4] constant({4, 3, 2, 1})\nn = s32[] constant(5)\n"
              "ROOT y = f32[<=4] set-dimension-size(x, n), dimensions={0}"),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("%y = set-dimension-size"),
                     HasSubstr("size 5 is beyond the bound 4"))));
}

TEST(RefusalsTest, ADynamicReshapeKeepsTheNumberOfElements) {
  EXPECT_THAT(Refusal(absl::StrCat(kThreeOfFour,
                                   "m = s32[] constant(2)\n"
                                   "ROOT r = f32[<=4] dynamic-reshape(y, m)")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("3 elements cannot be 2 elements")));
}

// The result of a dynamic size has its bound; beyond the size are zeros.
TEST(DynamicSizeTest, AResultIsFilledToItsBound) {
  ASSERT_OK_AND_ASSIGN(
      const Literal result,
      EvaluateText(absl::StrCat("HloModule m\nENTRY e {\n", kThreeOfFour,
                                "ROOT r = f32[<=4] add(y, y)\n}"),
                   {}));
  EXPECT_EQ(result.ToString(), "{8, 6, 4, 0}");
}

}  // namespace
}  // namespace ptxla::hlo
