// The planes of a transpose as few dimensions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/substitute.h"
#include "base/check.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/module.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/lowering/movement/permuted_box.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

using ::testing::ElementsAre;

Permutation Joined(absl::string_view operand, absl::string_view order,
                   absl::string_view result) {
  auto module = hlo::ParseModule(absl::Substitute(R"(HloModule m
ENTRY e {
  x = f32[$0] parameter(0)
  ROOT r = f32[$2] transpose(x), dimensions={$1}
})",
                                                  operand, order, result));
  CHECK(module.ok()) << module.status();
  AssignDefaultLayouts(module->get(), 6);
  std::optional<Permutation> p =
      DescribePermutation(*(*module)->entry()->root());
  CHECK(p.has_value());
  p->JoinPlanes();
  return *std::move(p);
}

constexpr int64_t kTile = 4096;  // of 8 rows and 128 lanes

TEST(PermutationTest, PlanesThatFollowOneAnotherOnBothSidesAreOne) {
  const Permutation p = Joined("2,3,5,8,128", "2,0,1,3,4", "5,2,3,8,128");
  EXPECT_THAT(p.out.sizes, ElementsAre(5, 6, 8, 128));
  EXPECT_THAT(p.in.sizes, ElementsAre(6, 5, 8, 128));
  EXPECT_THAT(p.from, ElementsAre(1, 0, 2, 3));
  EXPECT_THAT(p.pitch[kPermutedOut],
              ElementsAre(6 * kTile, kTile, kTile, kTile));
  EXPECT_THAT(p.pitch[kPermutedIn],
              ElementsAre(5 * kTile, kTile, kTile, kTile));
}

TEST(PermutationTest, PlanesThatChangePlacesStayApart) {
  const Permutation p = Joined("2,3,5,8,128", "2,1,0,3,4", "5,3,2,8,128");
  EXPECT_THAT(p.out.sizes, ElementsAre(5, 3, 2, 8, 128));
  EXPECT_THAT(p.from, ElementsAre(2, 1, 0, 3, 4));
}

TEST(PermutationTest, ADimensionOfOnePlaneIsNone) {
  const Permutation p = Joined("2,1,3,8,128", "2,1,0,3,4", "3,1,2,8,128");
  EXPECT_THAT(p.out.sizes, ElementsAre(3, 2, 8, 128));
  EXPECT_THAT(p.from, ElementsAre(1, 0, 2, 3));
}

// Rows of one side are planes of the other.
TEST(PermutationTest, WhatIsRowsOnOneSideIsNotJoined) {
  const Permutation p = Joined("2,3,16,128", "0,2,1,3", "2,16,3,128");
  EXPECT_THAT(p.out.sizes, ElementsAre(2, 16, 3, 128));
  EXPECT_THAT(p.from, ElementsAre(0, 2, 1, 3));
}

}  // namespace
}  // namespace ptxla::lowering
