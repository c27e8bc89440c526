// What a choice of blocks costs: groups of rows, planes from the innermost on,
// and what cores share.
#include "hlo_backend/lowering/fusion/step_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace ptxla::lowering {
namespace {

using ::testing::ElementsAre;

Axis AxisOf(Axis::Kind kind, int64_t tiles, bool reduced = false) {
  Axis axis;
  axis.kind = kind;
  axis.tiles = tiles;
  axis.elements = tiles;
  axis.reduced = reduced;
  axis.parts = {tiles};
  return axis;
}

// Planes, rows and columns.
Geometry GeometryOf(std::vector<Axis> axes) {
  Geometry g;
  g.axes = std::move(axes);
  g.column_axis = static_cast<int>(g.axes.size()) - 1;
  g.row_axis = g.column_axis - 1;
  return g;
}

const chips::ChipSpec& V6e() {
  static const chips::ChipSpec chip = *chips::ChipSpec::Load("v6e");
  return chip;
}

using Kind = Axis::Kind;

TEST(StepCostTest, RowsWithValuesOfTheirOwnComeInSixteens) {
  Geometry g = GeometryOf({AxisOf(Kind::kRow, 1024), AxisOf(Kind::kColumn, 6)});
  const StepLimits limits = {1024, 1085, 1, false};
  EXPECT_EQ(GroupedBlock(g, 0, limits, 6), 171);
  Stream values;
  values.access = Access::kLaneOfRows;
  g.streams.push_back(values);
  EXPECT_EQ(GroupedBlock(g, 0, limits, 6), 176);
}

TEST(StepCostTest, ABlockThatIsTooLargeSaysByHowMuch) {
  const Geometry g =
      GeometryOf({AxisOf(Kind::kRow, 1024), AxisOf(Kind::kColumn, 6)});
  const StepLimits limits = {1024, 1024, 1, false};
  const StepCost cost(V6e(), g, limits);
  EXPECT_EQ(cost.Of({6, 1}).beyond, 171 * 6 - 1024);
  EXPECT_EQ(cost.Of({7, 1}).beyond, 0);
  EXPECT_THAT(cost.BlockOf({7, 1}), ElementsAre(147, 6));
}

// Sums over the rows of [7,128,8,4096]: 128 planes are whole tiles of results.
TEST(StepCostTest, OuterPlanesJoinAStepWhereAllInnerOnesDo) {
  const Geometry g =
      GeometryOf({AxisOf(Kind::kMajor, 7), AxisOf(Kind::kMajor, 128),
                  AxisOf(Kind::kRow, 1, true), AxisOf(Kind::kColumn, 32)});
  const StepLimits limits = {1024, 1024, 1, false};
  const StepCost cost(V6e(), g, limits);
  EXPECT_GT(cost.Of({1, 32, 1, 1}).beyond, 0);  // 7 x 4 planes
  EXPECT_EQ(cost.Of({7, 4, 1, 1}).beyond, 0);   // 1 x 32
  EXPECT_EQ(cost.Of({1, 1, 1, 32}).beyond, 0);  // 7 x 128, of one column
}

// 3 x 2 steps are 3 each; what is reduced is shared at a price.
TEST(StepCostTest, TheBusierCoreCounts) {
  const Geometry loop =
      GeometryOf({AxisOf(Kind::kRow, 300), AxisOf(Kind::kColumn, 20)});
  const StepLimits two = {1024, 1024, 2, false};
  const StepCost cost(V6e(), loop, two);
  EXPECT_LT(cost.Of({3, 2}).all, cost.Of({7, 1}).all);
  const StepLimits one = {1024, 1024, 1, false};
  EXPECT_DOUBLE_EQ(cost.Of({3, 2}).all,
                   StepCost(V6e(), loop, one).Of({3, 2}).all);

  const Geometry sum =
      GeometryOf({AxisOf(Kind::kRow, 300, true), AxisOf(Kind::kColumn, 1)});
  EXPECT_GT(StepCost(V6e(), sum, two).Of({2, 1}).all,
            StepCost(V6e(), sum, one).Of({2, 1}).all);
}

}  // namespace
}  // namespace ptxla::lowering
