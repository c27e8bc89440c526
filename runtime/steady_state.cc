#include "runtime/steady_state.h"

namespace ptxla::runtime {

std::optional<Execution> Replay::Apply(const HostEvent& event,
                                       const std::string& name) {
  const Picoseconds begin = timelines_.tracing();
  std::optional<Execution> execution;
  switch (event.kind) {
    case HostEvent::kWork:
      timelines_.Trace(HostWorkSpan(event.work),
                       costs_.work(event.work) * event.count);
      break;
    case HostEvent::kCompile:
      timelines_.Trace("PjRtComputationClient::Compile", event.time);
      break;
    case HostEvent::kUpload:
      inputs_ = timelines_.Upload(event.bytes);
      break;
    case HostEvent::kBarrier:
      timelines_.WaitForDispatch();
      break;
    case HostEvent::kLaunch:
      execution = timelines_.Launch(name, event.time, inputs_, event.buffers);
      last_end_ = execution->end;
      break;
    case HostEvent::kReadBack:
      timelines_.ReadBack(last_end_);
      break;
  }
  last_duration_ = timelines_.tracing() - begin;
  return execution;
}

SteadyStep SteadyState(const StepLog& log, const HostCosts& costs) {
  Replay replay(costs, /*record_spans=*/false);
  SteadyStep result;
  Picoseconds end;
  // The last transient is the filling of the queue.
  const int repeats = costs.queue_depth + 8;
  for (int i = 0; i < repeats; ++i) {
    const Picoseconds previous_end = end;
    result = SteadyStep();
    for (const HostEvent& event : log) {
      const std::optional<Execution> e = replay.Apply(event);
      if (!e.has_value()) continue;
      result.device += e->end - e->begin;
      result.host += e->idle_for_host;
      result.input += e->idle_for_input;
      end = e->end;
    }
    result.period = end - previous_end;
  }
  return result;
}

}  // namespace ptxla::runtime
