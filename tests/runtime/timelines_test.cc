#include "runtime/timelines.h"

#include "gtest/gtest.h"
#include "runtime/steady_state.h"

namespace ptxla::runtime {
namespace {

// Round numbers, so that expectations are arithmetic.
HostCosts Costs() {
  HostCosts c;
  c.barrier = Picoseconds(3);
  c.launch = Picoseconds(30);
  c.read_back = Picoseconds(80);
  c.transfer_issue = Picoseconds(20);
  c.pcie = BytesPerSecond(1e12);  // one byte per picosecond
  c.queue_depth = 2;
  return c;
}

TEST(TimelinesTest, TheDeviceStartsWhenTheProgramIsEnqueued) {
  Timelines t(Costs());
  t.Trace("forward", Picoseconds(1000));
  const Execution e = t.Launch("p", Picoseconds(500), Picoseconds(0));
  EXPECT_EQ(e.enqueued, Picoseconds(1030));
  EXPECT_EQ(e.begin, Picoseconds(1030));
  EXPECT_EQ(e.end, Picoseconds(1530));
  EXPECT_EQ(t.tracing(), Picoseconds(1000)) << "python does not wait";
}

TEST(TimelinesTest, InputsThatComeLateHoldTheDeviceUp) {
  Timelines t(Costs());
  const Picoseconds arrival = t.Upload(Bytes(400));
  EXPECT_EQ(arrival, Picoseconds(420));
  const Execution e = t.Launch("p", Picoseconds(1), arrival);
  EXPECT_EQ(e.idle_for_host, Picoseconds(50));
  EXPECT_EQ(e.idle_for_input, Picoseconds(370));
}

TEST(TimelinesTest, TransfersShareOneLink) {
  Timelines t(Costs());
  t.Upload(Bytes(400));
  EXPECT_EQ(t.Upload(Bytes(100)), Picoseconds(520));
}

TEST(TimelinesTest, AFullQueueHoldsTheDispatchThreadAndThenTheTracer) {
  Timelines t(Costs());
  for (int i = 0; i < 3; ++i) t.Launch("p", Picoseconds(1000), Picoseconds(0));
  // Executions end at 1030, 2030, 3030; the third was handed over at 1030.
  EXPECT_EQ(t.WaitForDispatch(), Picoseconds(1033));
}

TEST(TimelinesTest, ABlockingReadWaitsForTheDevice) {
  Timelines t(Costs());
  const Execution e = t.Launch("p", Picoseconds(500), Picoseconds(0));
  t.ReadBack(e.end);
  EXPECT_EQ(t.tracing(), Picoseconds(610));
}

TEST(SteadyStateTest, ADeviceBoundLoopRunsAtTheDevicesTime) {
  StepCosts step;
  step.trace = Picoseconds(100);
  step.sync = Picoseconds(50);
  step.device = Picoseconds(1000);
  const SteadyStep s = SteadyState(step, Costs());
  EXPECT_EQ(s.period, Picoseconds(1000));
  EXPECT_EQ(s.host, Picoseconds(0));
}

TEST(SteadyStateTest, ATracingBoundLoopRunsAtTheHostsTime) {
  StepCosts step;
  step.trace = Picoseconds(2000);
  step.sync = Picoseconds(50);
  step.device = Picoseconds(1000);
  const SteadyStep s = SteadyState(step, Costs());
  EXPECT_EQ(s.period, Picoseconds(2053));  // trace + sync + barrier
  EXPECT_EQ(s.host, Picoseconds(1053));
}

TEST(SteadyStateTest, WithABlockingReadHostAndDeviceAdd) {
  StepCosts step;
  step.trace = Picoseconds(2000);
  step.sync = Picoseconds(50);
  step.device = Picoseconds(1000);
  step.blocking_reads = 1;
  const SteadyStep s = SteadyState(step, Costs());
  EXPECT_EQ(s.period, Picoseconds(2000 + 50 + 3 + 30 + 1000 + 80));
}

TEST(SteadyStateTest, ASlowLinkMakesTheLoopInputBound) {
  StepCosts step;
  step.trace = Picoseconds(100);
  step.uploads = {Bytes(3000)};
  step.device = Picoseconds(1000);
  const SteadyStep s = SteadyState(step, Costs());
  EXPECT_EQ(s.period, Picoseconds(3000));
  EXPECT_EQ(s.period, s.device + s.host + s.input);
  EXPECT_GT(s.input, Picoseconds(1800));
}

}  // namespace
}  // namespace ptxla::runtime
