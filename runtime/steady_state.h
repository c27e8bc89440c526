// The step time of a loop that goes on for ever, from what one step of it does:
// the step's log is replayed on the three timelines until the period is that
// of the loop.
//
//   StepLog log = {HostEvent::Work(HostWork::kRecordedCall, 4400),
//                  {HostEvent::kBarrier},
//                  {HostEvent::kLaunch, 0, Bytes(0), device_time}};
//   SteadyStep s = SteadyState(log, costs);
//   s.period == s.device + s.host + s.input     // exactly
//
// A log counts things, not time: replayed under other HostCosts it says what
// they would change.
#ifndef PTXLA_RUNTIME_STEADY_STATE_H_
#define PTXLA_RUNTIME_STEADY_STATE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "runtime/host_costs.h"
#include "runtime/timelines.h"

namespace ptxla::runtime {

struct HostEvent {
  enum Kind {
    kWork,      // `count` units of `work` on the tracing thread
    kCompile,   // the tracing thread waits `time` for XLA
    kUpload,    // `bytes` to the device
    kBarrier,   // the device lock
    kLaunch,    // program number `count` with so many `buffers` takes `time`
    kReadBack,  // a blocking read of the last program's result
  };
  Kind kind = kWork;
  int64_t count = 0;
  Bytes bytes;
  Picoseconds time;
  HostWork work = HostWork::kCall;
  int64_t buffers = 0;

  static HostEvent Work(HostWork work, int64_t count) {
    return {kWork, count, Bytes(0), Picoseconds(0), work};
  }
};
using StepLog = std::vector<HostEvent>;

// Timelines with the memory that a log needs: what the next program waits for.
class Replay {
 public:
  explicit Replay(const HostCosts& costs, bool record_spans)
      : costs_(costs), timelines_(costs, record_spans) {}

  // Set for kLaunch. `name` is the program's, for the timeline.
  std::optional<Execution> Apply(const HostEvent& event,
                                 const std::string& name = "");
  // How long the tracing thread was kept by the last event.
  Picoseconds last_duration() const { return last_duration_; }

  const HostCosts& costs() const { return costs_; }
  const Timelines& timelines() const { return timelines_; }

 private:
  HostCosts costs_;
  Timelines timelines_;
  Picoseconds inputs_;    // arrival of the last transfer
  Picoseconds last_end_;  // of the last program
  Picoseconds last_duration_;
};

struct SteadyStep {
  Picoseconds period;
  Picoseconds device;  // busy
  Picoseconds host;    // idle because nothing was enqueued
  Picoseconds input;   // idle because data had not arrived
};

SteadyStep SteadyState(const StepLog& log, const HostCosts& costs);

}  // namespace ptxla::runtime

#endif  // PTXLA_RUNTIME_STEADY_STATE_H_
