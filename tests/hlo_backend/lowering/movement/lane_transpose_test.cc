// Lanes that come from planes or rows while planes become rows or lanes:
// bundles against the evaluator.
#include "hlo_backend/lowering/movement/lane_transpose.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

std::string Transpose(absl::string_view type, const std::vector<int>& dims,
                      const std::vector<int>& permutation) {
  std::vector<int> result;
  for (const int d : permutation) result.push_back(dims[d]);
  return absl::Substitute(R"(HloModule m
ENTRY e {
  a = $0[$1] parameter(0)
  ROOT r = $0[$2] transpose(a), dimensions={$3}
})",
                          type, absl::StrJoin(dims, ","),
                          absl::StrJoin(result, ","),
                          absl::StrJoin(permutation, ","));
}

struct Case {
  std::vector<int> dims, permutation;
};

// Rows of the result: planes, the operand's rows, its lanes; its lanes: rows or
// planes of the operand.
std::vector<Case> Forms() {
  return {{{24, 40, 136}, {2, 0, 1}},         {{19, 45, 70}, {2, 0, 1}},
          {{40, 24, 136}, {2, 1, 0}},         {{37, 21, 130}, {2, 1, 0}},
          {{40, 24, 136}, {1, 2, 0}},         {{37, 21, 130}, {1, 2, 0}},
          {{7, 9, 33, 20}, {1, 3, 0, 2}},     {{7, 9, 33, 20}, {2, 3, 1, 0}},
          {{8, 3, 30, 50}, {2, 3, 1, 0}},     {{5, 6, 7, 40}, {3, 0, 2, 1}},
          {{2, 3, 4, 9, 30}, {4, 1, 3, 0, 2}}};
}

class LaneTransposeTest : public ::testing::TestWithParam<const char*> {};

TEST_P(LaneTransposeTest, AnyTwoDimensionsBecomeRowsAndLanes) {
  for (const char* type : {"f32", "bf16", "s32"}) {
    for (const Case& c : Forms()) {
      HarnessOptions options;
      options.chip = GetParam();
      const std::string text = Transpose(type, c.dims, c.permutation);
      const auto result = CompareKernel(text, options);
      EXPECT_OK(result.status()) << GetParam() << text;
      EXPECT_TRUE(!result.ok() ||
                  absl::StrContains(result->kernel.note, "lanes from"))
          << text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, LaneTransposeTest,
                         ::testing::Values("v2", "v3", "v4", "v5e", "v5p",
                                           "v6e", "tpu7x"));

TEST(LaneTransposeTest, ArraysInVmemAreWalkedOrCopied) {
  for (const char* type : {"f32", "bf16"}) {
    for (const std::vector<int>& in_vmem : {std::vector<int>{0}, {1}, {0, 1}}) {
      for (const Case& c : Forms()) {
        HarnessOptions options;
        options.chip = "v5e";
        options.in_vmem = in_vmem;
        const std::string text = Transpose(type, c.dims, c.permutation);
        EXPECT_OK(CompareKernel(text, options).status())
            << in_vmem.size() << text;
      }
    }
  }
}

// 32 registers do not hold what the unrolled blocks have under way.
TEST(LaneTransposeTest, BlocksGoOneByOneWhereRegistersAreFew) {
  for (const char* chip : {"v2", "v3", "v4"}) {
    HarnessOptions options;
    options.chip = chip;
    EXPECT_OK(CompareKernel(R"(HloModule m
ENTRY e {
  a = bf16[4,512,7,7]{3,2,1,0:T(8,128)(2,1)} parameter(0)
  ROOT r = bf16[7,7,4,512]{3,2,1,0:T(4,128)(2,1)} transpose(a),
    dimensions={2,3,0,1}
})",
                            options)
                  .status())
        << chip;
  }
}

// Several steps, the last of which are parts of blocks.
TEST(LaneTransposeTest, AnySizeFitsInBoxes) {
  for (const char* type : {"f32", "bf16"}) {
    for (const Case& c :
         {Case{{40, 300, 264}, {2, 0, 1}}, Case{{200, 40, 264}, {2, 1, 0}},
          Case{{300, 40, 264}, {1, 2, 0}}}) {
      HarnessOptions options;
      options.chip = "v4";
      const auto result =
          CompareKernel(Transpose(type, c.dims, c.permutation), options);
      EXPECT_OK(result.status()) << type;
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
