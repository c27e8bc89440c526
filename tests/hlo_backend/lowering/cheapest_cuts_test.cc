// Blocks of a few dimensions: as few as can be, with little padding.
#include "hlo_backend/lowering/cheapest_cuts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ptxla::lowering {
namespace {

using ::testing::ElementsAre;

constexpr BlockCost kCost = {1024, 1085, 200, 0.04};

TEST(CheapestCutsTest, InnerDimensionsStayWholeWhereNothingIsPadded) {
  EXPECT_THAT(CheapestCuts({512, 32}, kCost), ElementsAre(16, 1));
  EXPECT_THAT(CheapestCuts({8, 128}, kCost), ElementsAre(1, 1));
}

// Rows of 24 in blocks of 42 leave 8 over.
TEST(CheapestCutsTest, RowsAreCutWhereThatSavesPadding) {
  EXPECT_THAT(CheapestCuts({512, 24}, kCost), ElementsAre(4, 3));
  EXPECT_THAT(CheapestCuts({256, 80}, kCost), ElementsAre(4, 5));
  EXPECT_THAT(CheapestCuts({1024, 6}, kCost), ElementsAre(2, 3));
}

TEST(CheapestCutsTest, ABlockIsSomewhatLargerWhereThatSavesAnother) {
  EXPECT_THAT(CheapestCuts({513, 8}, kCost), ElementsAre(1, 4));
  // 24 blocks of 1,045 save too little.
  EXPECT_THAT(CheapestCuts({625, 40}, kCost), ElementsAre(25, 1));
}

TEST(CheapestCutsTest, WithoutRoomForMoreItIsNot) {
  BlockCost cost = kCost;
  cost.most = cost.target;
  const auto cuts = CheapestCuts({513, 8}, cost);
  EXPECT_EQ(cuts[0] * cuts[1], 5);
}

TEST(CheapestCutsTest, SeveralDimensionsAreCutTogether) {
  EXPECT_THAT(CheapestCuts({32, 56, 7, 2}, kCost), ElementsAre(4, 7, 1, 1));
}

TEST(CheapestCutsTest, TwoCoresHaveAsManyBlocksEach) {
  BlockCost cost = kCost;
  cost.sharers = 2;
  EXPECT_THAT(CheapestCuts({375, 16}, kCost), ElementsAre(3, 2));
  EXPECT_THAT(CheapestCuts({375, 8}, kCost), ElementsAre(3, 1));
  EXPECT_THAT(CheapestCuts({375, 8}, cost), ElementsAre(1, 4));
}

TEST(CheapestCutsTest, CutsAreDistinctIfTheirBlocksAre) {
  EXPECT_THAT(DistinctCuts(10), ElementsAre(1, 2, 3, 4, 5, 10));
  EXPECT_THAT(DistinctCuts(1), ElementsAre(1));
}

// A block always has an element, and every size has a cut.
TEST(CheapestCutsTest, TinyTargetsAndLargePrimesHaveCuts) {
  EXPECT_THAT(CheapestCuts({7, 5}, {1, 1, 200, 0.04}), ElementsAre(7, 5));
  EXPECT_THAT(CheapestCuts({1}, kCost), ElementsAre(1));
  const auto cuts = CheapestCuts({100003, 7919}, kCost);
  const int64_t block =
      ((100003 + cuts[0] - 1) / cuts[0]) * ((7919 + cuts[1] - 1) / cuts[1]);
  EXPECT_LE(block, kCost.most);
  EXPECT_GT(block, kCost.target / 2);
}

}  // namespace
}  // namespace ptxla::lowering
