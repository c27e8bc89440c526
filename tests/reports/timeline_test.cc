#include "reports/timeline.h"

#include <nlohmann/json.hpp>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ptxla::reports {
namespace {

using nlohmann::json;

json Events(const std::string& text) {
  return json::parse(text)["traceEvents"];
}

json FindSpan(const json& events, const std::string& name) {
  for (const json& e : events) {
    if (e["ph"] == "X" && e["name"] == name) return e;
  }
  return nullptr;
}

record::DeviceTrace Trace() {
  record::DeviceTrace trace;
  trace.set_clock_hz(1e9);
  record::OpTrace* op = trace.add_op();
  op->set_name("fusion.1");
  op->set_start_ps(1000);
  op->set_end_ps(5000);
  op->set_cores(2);
  op->mutable_busy()->set_mxu(3);
  record::TransferTrace* t = trace.add_transfer();
  t->set_resource(record::TransferTrace::HBM);
  t->set_name("weights");
  t->set_end_ps(900);
  return trace;
}

TEST(TimelineTest, DeviceTimesAreShiftedToWhereTheRunPlacedThem) {
  const record::DeviceTrace trace = Trace();
  const json events =
      Events(RenderTimeline(record::RunRecord(), {}, {{2000000, &trace}}));
  const json op = FindSpan(events, "fusion.1");
  EXPECT_DOUBLE_EQ(op["ts"].get<double>(), 2.001);
  EXPECT_DOUBLE_EQ(op["dur"].get<double>(), 0.004);
  EXPECT_DOUBLE_EQ(FindSpan(events, "weights")["dur"].get<double>(), 0.0009);
}

TEST(TimelineTest, AMegacoreOpStandsOnBothCoresAndUnitsShowTheirBusyTime) {
  const record::DeviceTrace trace = Trace();
  std::set<std::pair<int, int>> tracks;
  for (const json& e :
       Events(RenderTimeline(record::RunRecord(), {}, {{0, &trace}}))) {
    if (e["ph"] == "X" && e["name"] == "fusion.1") {
      tracks.insert({e["pid"].get<int>(), e["tid"].get<int>()});
    }
  }
  EXPECT_EQ(tracks, (std::set<std::pair<int, int>>{{2, 0}, {2, 1}, {3, 0}}));
}

TEST(TimelineTest, NamesAreEscaped) {
  const json events = Events(RenderTimeline(
      record::RunRecord(),
      {{HostSpan::Track::kTracing, "a \"b\"\n\\", 0, 1000000}}, {}));
  EXPECT_FALSE(FindSpan(events, "a \"b\"\n\\").is_null());
}

}  // namespace
}  // namespace ptxla::reports
