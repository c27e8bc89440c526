// The three timelines of a PyTorch/XLA process: the python thread that traces,
// the thread that dispatches programs, and the device's queue. Costs go in,
// times come out; nothing here knows graphs.
//
//   Timelines t(costs);
//   t.Trace("forward", FromSeconds(0.090));
//   t.WaitForDispatch();
//   Execution e = t.Launch("SyncTensorsGraph.12", device_time, {});
//   t.tracing();      // python goes on while the device works
//
// In a steady loop without blocking reads the period comes out as
// max(host, device); with a blocking read each step as their sum.
#ifndef PTXLA_RUNTIME_TIMELINES_H_
#define PTXLA_RUNTIME_TIMELINES_H_

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/units.h"
#include "runtime/host_costs.h"

namespace ptxla::runtime {

enum class Track { kTracing, kDispatch, kDevice };

// One named interval, for a timeline.
struct Span {
  Track track = Track::kTracing;
  std::string name;
  Picoseconds begin, end;
};

// One program on the device.
struct Execution {
  Picoseconds enqueued;    // the dispatch thread has handed it over
  Picoseconds begin, end;  // on the device
  // How long the device was idle before it, and what it waited for.
  Picoseconds idle_for_host;
  Picoseconds idle_for_input;
};

class Timelines {
 public:
  explicit Timelines(const HostCosts& costs, bool record_spans = true)
      : costs_(costs), record_spans_(record_spans) {}

  Picoseconds tracing() const { return tracing_; }
  Picoseconds device() const { return device_; }

  // The tracing thread works.
  void Trace(const char* name, Picoseconds time);
  // A host-to-device transfer: the tracing thread issues it, the link carries
  // it after earlier ones. Returns when the data are on the device.
  Picoseconds Upload(Bytes bytes);
  // The tracing thread takes the device lock, which it gets when everything
  // given to the dispatch thread has been enqueued. Returns how long it took.
  Picoseconds WaitForDispatch();
  // Gives a program with so many arguments and results to the dispatch thread
  // and goes on. The device starts it when it is free and `inputs` are there;
  // the dispatch thread waits while the queue is full.
  Execution Launch(const std::string& name, Picoseconds device_time,
                   Picoseconds inputs, int64_t buffers = 0);
  // A blocking read of something ready at `ready`. Returns how long it took.
  Picoseconds ReadBack(Picoseconds ready);

  const std::vector<Span>& spans() const { return spans_; }

 private:
  void Record(Track track, const std::string& name, Picoseconds begin,
              Picoseconds end);

  HostCosts costs_;
  bool record_spans_;
  Picoseconds tracing_, dispatch_, device_, link_;
  std::deque<Picoseconds> in_flight_;  // ends of what is queued
  std::vector<Span> spans_;
};

}  // namespace ptxla::runtime

#endif  // PTXLA_RUNTIME_TIMELINES_H_
