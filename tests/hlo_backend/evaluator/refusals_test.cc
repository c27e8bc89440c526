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

TEST(RefusalsTest, WhatComesFromOutsideSaysSo) {
  EXPECT_THAT(
      Refusal("t = token[] after-all()\n"
              "ROOT r = (f32[2], token[]) infeed(t)"),
      StatusIs(absl::StatusCode::kUnimplemented,
               HasSubstr("4:6: %r = infeed: what it gives is not in the "
                         "module")));
  EXPECT_THAT(
      Refusal("t = token[] after-all()\n"
              "ROOT s = (f32[2], u32[], token[]) recv(t), channel_id=1"),
      StatusIs(absl::StatusCode::kUnimplemented,
               HasSubstr("%s = recv: the other end of a channel is not in the "
                         "module")));
}

constexpr char kThreeOfFour[] =
    "x = f32[4] constant({4, 3, 2, 1})\nn = s32[] constant(3)\n"
    "y = f32[<=4] set-dimension-size(x, n), dimensions={0}\n";

TEST(RefusalsTest, AnOperationThatDoesNotKnowDynamicSizesIsNamed) {
  EXPECT_THAT(Refusal(absl::StrCat(kThreeOfFour,
                                   "ROOT r = c64[<=3] fft(y), fft_type=RFFT, "
                                   "fft_length={4}")),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("%r = fft: of an array of dynamic size")));
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

// The elements that count move together; sizes follow.
TEST(DynamicSizeTest, WhatMovesSortsAndJoinsSeesOnlyWhatCounts) {
  constexpr char kLess[] =
      "less { a = f32[] parameter(0) b = f32[] parameter(1) "
      "ROOT r = pred[] compare(a, b), direction=LT }\n"
      "add { a = f32[] parameter(0) b = f32[] parameter(1) "
      "ROOT s = f32[] add(a, b) }\n";
  // y is 4, 3, 2 of at most four.
  const struct {
    const char *lines, *want;
  } cases[] = {
      {"ROOT r = f32[<=4] reverse(y), dimensions={0}", "{2, 3, 4, 0}"},
      {"ROOT r = f32[<=4] sort(y), dimensions={0}, to_apply=less",
       "{2, 3, 4, 0}"},
      {"ROOT r = (f32[<=4], f32[<=4]) sort(y, y), dimensions={0}, "
       "to_apply=less2",
       "( {2, 3, 4, 0}, {2, 3, 4, 0} )"},
      {"w = f32[2] constant({7, 8}) ROOT r = f32[<=10] concatenate(y, w, y), "
       "dimensions={0}",
       "{4, 3, 2, 7, 8, 4, 3, 2, 0, 0}"},
      {"ROOT r = f32[<=3] slice(y), slice={[1:4]}", "{3, 2, 0}"},
      {"ROOT r = f32[<=2] slice(y), slice={[0:4:2]}", "{4, 2}"},
      {"z = s32[] constant(0) ROOT r = f32[<=4] dynamic-slice(y, z), "
       "dynamic_slice_sizes={4}",
       "{4, 3, 2, 0}"},
      {"z = s32[] constant(3) v = f32[1] constant({9}) w = f32[<=4] "
       "dynamic-update-slice(y, v, z) m = s32[] constant(4) ROOT r = f32[<=4] "
       "set-dimension-size(w, m), dimensions={0}",
       "{4, 3, 2, 9}"},
      {"o = f32[] constant(5) ROOT r = f32[<=7] pad(y, o), padding=1_2",
       "{5, 4, 3, 2, 5, 5, 0}"},
      {"i = s32[4] constant({3, 0, 1, 2}) j = s32[<=4] set-dimension-size(i, "
       "n), dimensions={0} u = f32[4] constant({10, 20, 30, 40}) ROOT r = "
       "f32[<=4] gather(u, j), offset_dims={}, collapsed_slice_dims={0}, "
       "start_index_map={0}, index_vector_dim=1, slice_sizes={1}",
       "{40, 10, 20, 0}"},
      {"i = s32[4] constant({3, 0, 1, 2}) u = f32[4] constant({10, 20, 30, "
       "40}) ROOT r = f32[4] scatter(u, i, y), update_window_dims={}, "
       "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
       "index_vector_dim=1, to_apply=add",
       "{13, 22, 30, 44}"},
      {"o = f32[] constant(0) ROOT r = f32[<=3] reduce-window(y, o), "
       "window={size=2}, to_apply=add",
       "{7, 5, 0}"},
      {"ROOT r = s32[<=4] bitcast-convert(y)",
       "{1082130432, 1077936128, 1073741824, 0}"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.lines);
    ASSERT_OK_AND_ASSIGN(
        const Literal result,
        EvaluateText(absl::StrCat("HloModule m\n", kLess,
                                  "less2 { a = f32[] parameter(0) b = f32[] "
                                  "parameter(1) c = f32[] parameter(2) d = "
                                  "f32[] parameter(3) ROOT r = pred[] "
                                  "compare(a, b), direction=LT }\n",
                                  "ENTRY e {\n", kThreeOfFour, c.lines, "\n}"),
                     {}));
    EXPECT_EQ(result.ToString(), c.want);
  }
}

}  // namespace
}  // namespace ptxla::hlo
