#include "hlo_backend/passes/layout/dimension_cuts.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ptxla::hlo {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(DimensionCutsTest, AreProductsOfTrailingDimensions) {
  EXPECT_THAT(CutsOf({8, 128, 64}), ElementsAre(64, 8192));
}

TEST(DimensionCutsTest, IgnoreDimensionsOfSizeOne) {
  EXPECT_THAT(CutsOf({1, 8, 1, 64, 1}), ElementsAre(64));
}

TEST(DimensionCutsTest, FewerCutsJoinDimensions) {
  EXPECT_THAT(DimsOf({64}, 65536), ElementsAre(1024, 64));
  EXPECT_THAT(DimsOf({64, 8192}, 65536), ElementsAre(8, 128, 64));
}

TEST(DimensionCutsTest, ABroadcastOfRowsNeedsNoCutBetweenTheRows) {
  EXPECT_THAT(CutsOfBroadcast({8, 128, 64}, {2}), ElementsAre(64));
}

TEST(DimensionCutsTest, ABroadcastTellsMappedDimensionsApart) {
  EXPECT_THAT(CutsOfBroadcast({8, 128, 64}, {0, 1}), ElementsAre(64, 8192));
}

TEST(DimensionCutsTest, AScalarBroadcastNeedsNoCuts) {
  EXPECT_THAT(CutsOfBroadcast({8, 128, 64}, {}), IsEmpty());
}

TEST(DimensionCutsTest, AReduceJoinsWhatItReduces) {
  EXPECT_THAT(CutsOfReduce({8, 128, 64}, {0, 1}), ElementsAre(64));
  EXPECT_THAT(CutsOfReduce({8, 128, 64}, {2}), ElementsAre(64, 8192));
}

// Neighbours on both sides need no cut between them.
TEST(DimensionCutsTest, JoinWhatOnlyStandsTogether) {
  EXPECT_THAT(LeastCutsOfReduce({8, 128, 64}, {2}), ElementsAre(64));
  EXPECT_THAT(LeastCutsOfReduce({8, 128, 64}, {1}), ElementsAre(64, 8192));
  EXPECT_THAT(LeastCutsOfBroadcast({8, 128, 64}, {0, 1}), ElementsAre(64));
  EXPECT_THAT(LeastCutsOfBroadcast({8, 1, 128, 64}, {0, 2}), ElementsAre(64));
  EXPECT_THAT(LeastCutsOfBroadcast({8, 128, 64}, {1}), ElementsAre(64, 8192));
  EXPECT_THAT(LeastCutsOfBroadcast({8, 128}, {1, 0}), ElementsAre(128));
}

TEST(DimensionCutsTest, CutsThatDoNotDivideAreNoShape) {
  EXPECT_TRUE(IsChain({64, 8192}, 65536));
  EXPECT_FALSE(IsChain({64, 96}, 65536));
}

TEST(DimensionCutsTest, FineDimensionsKnowTheirPart) {
  EXPECT_THAT(PartOf({8, 128, 2, 64}, {1024, 128}), ElementsAre(0, 0, 1, 1));
}

}  // namespace
}  // namespace ptxla::hlo
