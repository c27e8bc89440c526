#include "runtime/steady_state.h"

#include <algorithm>

#include "runtime/timelines.h"

namespace ptxla::runtime {

SteadyStep SteadyState(const StepCosts& step, const HostCosts& costs) {
  Timelines t(costs, /*record_spans=*/false);
  SteadyStep result;
  // The last transient is the filling of the queue.
  const int repeats = costs.queue_depth + 8;
  Picoseconds previous_end;
  for (int i = 0; i < repeats; ++i) {
    t.Trace("", step.trace);
    Picoseconds inputs;
    for (Bytes bytes : step.uploads) inputs = std::max(inputs, t.Upload(bytes));
    t.Trace("", step.sync);
    t.WaitForDispatch();
    const Execution e = t.Launch("", step.device, inputs);
    for (int r = 0; r < step.blocking_reads; ++r) t.ReadBack(e.end);
    result = {e.end - previous_end, step.device, e.idle_for_host,
              e.idle_for_input};
    previous_end = e.end;
  }
  return result;
}

}  // namespace ptxla::runtime
