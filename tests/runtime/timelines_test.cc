#include "runtime/timelines.h"

#include "gtest/gtest.h"
#include "runtime/steady_state.h"

namespace ptxla::runtime {
namespace {

// Round numbers, so that expectations are arithmetic.
HostCosts Costs() {
  HostCosts c;
  c.works.fill(Picoseconds(1));
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

TEST(TimelinesTest, EveryArgumentAndResultKeepsTheDispatchThread) {
  HostCosts costs = Costs();
  costs.launch_buffer = Picoseconds(2);
  Timelines t(costs);
  const Execution e =
      t.Launch("p", Picoseconds(500), Picoseconds(0), /*buffers=*/10);
  EXPECT_EQ(e.enqueued, Picoseconds(50));
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

// One step: trace, upload, walk, lock, launch, reads.
StepLog Step(int64_t traced, int64_t uploaded, int reads) {
  StepLog log = {HostEvent::Work(HostWork::kRecordedCall, traced)};
  if (uploaded > 0) {
    log.push_back({HostEvent::kUpload, 0, Bytes(uploaded), Picoseconds(0)});
  }
  log.push_back(HostEvent::Work(HostWork::kWalkNode, 50));
  log.push_back({HostEvent::kBarrier, 0, Bytes(0), Picoseconds(0)});
  log.push_back({HostEvent::kLaunch, 0, Bytes(0), Picoseconds(1000)});
  for (int i = 0; i < reads; ++i) {
    log.push_back({HostEvent::kReadBack, 0, Bytes(0), Picoseconds(0)});
  }
  return log;
}

TEST(SteadyStateTest, ADeviceBoundLoopRunsAtTheDevicesTime) {
  const SteadyStep s = SteadyState(Step(100, 0, 0), Costs());
  EXPECT_EQ(s.period, Picoseconds(1000));
  EXPECT_EQ(s.host, Picoseconds(0));
}

TEST(SteadyStateTest, ATracingBoundLoopRunsAtTheHostsTime) {
  const SteadyStep s = SteadyState(Step(2000, 0, 0), Costs());
  EXPECT_EQ(s.period, Picoseconds(2053));  // trace + walk + barrier
  EXPECT_EQ(s.host, Picoseconds(1053));
}

TEST(SteadyStateTest, WithABlockingReadHostAndDeviceAdd) {
  const SteadyStep s = SteadyState(Step(2000, 0, 1), Costs());
  EXPECT_EQ(s.period, Picoseconds(2000 + 50 + 3 + 30 + 1000 + 80));
}

TEST(SteadyStateTest, ASlowLinkMakesTheLoopInputBound) {
  const SteadyStep s = SteadyState(Step(100, 3000, 0), Costs());
  EXPECT_EQ(s.period, Picoseconds(3000));
  EXPECT_EQ(s.period, s.device + s.host + s.input);
  EXPECT_GT(s.input, Picoseconds(1800));
}

TEST(SteadyStateTest, SeveralProgramsOfAStepAddUp) {
  StepLog log = Step(100, 0, 0);
  log.push_back({HostEvent::kLaunch, 0, Bytes(0), Picoseconds(500)});
  const SteadyStep s = SteadyState(log, Costs());
  EXPECT_EQ(s.device, Picoseconds(1500));
  EXPECT_EQ(s.period, s.device + s.host + s.input);
}

}  // namespace
}  // namespace ptxla::runtime
