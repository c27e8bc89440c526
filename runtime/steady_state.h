// The step time of a loop that goes on for ever, from what one step of it
// costs: the step is repeated on the three timelines until the period is
// that of the loop.
//
//   StepCosts step = ...;                       // of the first cache hit
//   SteadyStep s = SteadyState(step, costs);
//   s.period == s.device + s.host + s.input     // exactly
#ifndef PTXLA_RUNTIME_STEADY_STATE_H_
#define PTXLA_RUNTIME_STEADY_STATE_H_

#include <vector>

#include "base/units.h"
#include "runtime/host_costs.h"

namespace ptxla::runtime {

// One step as the tracing thread sees it.
struct StepCosts {
  Picoseconds trace;           // python and tracing, transfers not included
  std::vector<Bytes> uploads;  // host-to-device transfers
  Picoseconds sync;            // collect, post-order, hash
  Picoseconds device;          // execution of its program
  int blocking_reads = 0;      // of the step's results, after the barrier
};

struct SteadyStep {
  Picoseconds period;
  Picoseconds device;  // busy
  Picoseconds host;    // idle because nothing was enqueued
  Picoseconds input;   // idle because data had not arrived
};

SteadyStep SteadyState(const StepCosts& step, const HostCosts& costs);

}  // namespace ptxla::runtime

#endif  // PTXLA_RUNTIME_STEADY_STATE_H_
