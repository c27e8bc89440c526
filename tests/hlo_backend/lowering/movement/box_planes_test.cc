// Which planes a step of a box takes singly.
#include "hlo_backend/lowering/movement/box_planes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace ptxla::lowering {
namespace {

using ::testing::ElementsAre;

PlaneAxis Axis(int64_t size, int64_t pitch) {
  PlaneAxis axis;
  axis.size = size;
  axis.pitch = pitch;
  axis.from.resize(1);
  axis.from[0].pitch = pitch;
  axis.from[0].extent = size;
  axis.from[0].map.hi = size;
  return axis;
}

std::vector<int64_t> Pitches(const BoxPlanes& planes) {
  std::vector<int64_t> pitches;
  for (const PlaneAxis& a : planes.axes) pitches.push_back(a.pitch);
  return pitches;
}

TEST(BoxPlanesTest, TheFewestPlanesComeFirstAndTheOthersKeepTheirOrder) {
  BoxPlanes planes;
  planes.axes = {Axis(16, 4), Axis(3, 3), Axis(8, 2), Axis(2, 1)};
  ASSERT_TRUE(planes.PutSmallFirst(2));
  EXPECT_THAT(Pitches(planes), ElementsAre(3, 1, 4, 2));
}

TEST(BoxPlanesTest, OfEqualOnesTheOuterComesFirst) {
  BoxPlanes planes;
  planes.axes = {Axis(9, 4), Axis(5, 3), Axis(5, 2), Axis(5, 1)};
  ASSERT_TRUE(planes.PutSmallFirst(2));
  EXPECT_THAT(Pitches(planes), ElementsAre(3, 2, 4, 1));
}

// Part of a dimension, and a reversed one.
TEST(BoxPlanesTest, PlanesThatDoNotGoOneForOneStayWhereTheyAre) {
  BoxPlanes planes;
  planes.axes = {Axis(2, 4), Axis(3, 3), Axis(16, 2), Axis(8, 1)};
  planes.axes[0].from[0].extent = 5;
  planes.axes[1].from[0].map.stride = -1;
  EXPECT_FALSE(planes.PutSmallFirst(3));
  EXPECT_THAT(Pitches(planes), ElementsAre(4, 3, 2, 1));
  ASSERT_TRUE(planes.PutSmallFirst(1));
  EXPECT_THAT(Pitches(planes), ElementsAre(1, 4, 3, 2));
}

}  // namespace
}  // namespace ptxla::lowering
