// Which reshapes lay rows of whole tiles side by side.
#include "hlo_backend/analysis/lane_reshape.h"

#include <gtest/gtest.h>

#include <vector>

namespace ptxla::hlo {
namespace {

using Dims = std::vector<int64_t>;

TEST(LaneReshapeTest, DimensionsOfEachKindAreOne) {
  for (const bool cuts : {false, true}) {
    const Dims apart = {2, 3, 32, 5, 7, 9, 512}, joined = {2, 3, 32, 161280};
    const auto r =
        cuts ? FindLaneReshape(joined, apart) : FindLaneReshape(apart, joined);
    ASSERT_TRUE(r.has_value());
    EXPECT_EQ(r->cuts, cuts);
    EXPECT_EQ(r->major, 6);
    EXPECT_EQ(r->rows, 32);
    EXPECT_EQ(r->planes, 35);
    EXPECT_EQ(r->parts, 9);
    EXPECT_EQ(r->lanes, 512);
  }
}

TEST(LaneReshapeTest, OthersAreNone) {
  EXPECT_FALSE(FindLaneReshape(Dims{32, 7, 64}, Dims{32, 448}));  // half tiles
  EXPECT_FALSE(FindLaneReshape(Dims{7, 128}, Dims{896}));  // no rows left
  EXPECT_FALSE(FindLaneReshape(Dims{32, 7, 128}, Dims{224, 128}));
  EXPECT_FALSE(FindLaneReshape(Dims{32, 7, 128}, Dims{32, 7, 128}));
}

}  // namespace
}  // namespace ptxla::hlo
