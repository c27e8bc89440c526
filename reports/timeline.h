// The timeline of a run as a trace file for ui.perfetto.dev: trace-event JSON,
// one object per event, one event per line. Tracks: the tracing thread, the
// dispatch of programs, the device queue, and for the device each core's
// kernels, the time each unit is busy, DMAs, links and host transfers. Device
// times of one execution are drawn where the run placed it.
//
//   std::string json = RenderTimeline(run, host_spans, {{0, &trace}});
#ifndef PTXLA_REPORTS_TIMELINE_H_
#define PTXLA_REPORTS_TIMELINE_H_

#include <string>
#include <vector>

#include "record/device_trace.pb.h"
#include "record/run_record.pb.h"

namespace ptxla::reports {

// A span on a host track, named as PyTorch/XLA's TraceMe spans are.
struct HostSpan {
  enum class Track { kTracing, kDispatch, kDevice };
  Track track = Track::kTracing;
  std::string name;
  int64_t begin_ps = 0;
  int64_t end_ps = 0;
};

// One execution of a program on the device, in the run's own time.
struct DeviceSpan {
  int64_t begin_ps = 0;
  const record::DeviceTrace* trace = nullptr;
};

std::string RenderTimeline(const record::RunRecord& run,
                           const std::vector<HostSpan>& host,
                           const std::vector<DeviceSpan>& device);

}  // namespace ptxla::reports

#endif  // PTXLA_REPORTS_TIMELINE_H_
