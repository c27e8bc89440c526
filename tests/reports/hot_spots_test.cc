#include "reports/hot_spots.h"

#include "gtest/gtest.h"

namespace ptxla::reports {
namespace {

record::OpRecord* AddOp(record::ProgramRecord* p, const std::string& name,
                        const std::string& layer, int64_t time_ps,
                        double fraction) {
  record::OpRecord* op = p->add_ops();
  op->set_name(name);
  op->set_layer(layer);
  op->set_count(1);
  op->set_time_ps(time_ps);
  op->set_bound("vpu");
  op->set_fraction_of_peak(fraction);
  return op;
}

TEST(HotSpotsTest, EqualWorkOfEveryLayerIsOneLine) {
  record::ProgramRecord p;
  AddOp(&p, "fusion.1", "encoder.0.ffn", 10, 0.5);
  AddOp(&p, "copy.2", "", 25, 0.1);
  AddOp(&p, "fusion.9", "encoder.11.ffn", 30, 0.7);
  const std::vector<HotSpot> spots = HotSpots(p);
  ASSERT_EQ(spots.size(), 2);
  EXPECT_EQ(spots[0].layer, "encoder.*.ffn");
  EXPECT_EQ(spots[0].name, "fusion");
  EXPECT_EQ(spots[0].count, 2);
  EXPECT_EQ(spots[0].time, Picoseconds(40));
  EXPECT_DOUBLE_EQ(*spots[0].fraction_of_peak, 0.65);
  EXPECT_EQ(spots[1].name, "copy");
}

// A fraction of one resource says nothing about another.
TEST(HotSpotsTest, TheBoundIsThatOfMostTimeAndTheFractionIsOfItsResource) {
  record::ProgramRecord p;
  AddOp(&p, "fusion.1", "a", 15, 0.5);
  AddOp(&p, "fusion.2", "a", 20, 0.9)->set_bound("hbm");
  AddOp(&p, "fusion.3", "a", 15, 0.3);
  EXPECT_EQ(HotSpots(p)[0].bound, "vpu");
  EXPECT_DOUBLE_EQ(*HotSpots(p)[0].fraction_of_peak, 0.4);
}

}  // namespace
}  // namespace ptxla::reports
