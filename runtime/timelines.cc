#include "runtime/timelines.h"

#include <algorithm>

namespace ptxla::runtime {

void Timelines::Record(Track track, const std::string& name, Picoseconds begin,
                       Picoseconds end) {
  if (record_spans_ && begin < end) spans_.push_back({track, name, begin, end});
}

void Timelines::Trace(const char* name, Picoseconds time) {
  if (record_spans_) Record(Track::kTracing, name, tracing_, tracing_ + time);
  tracing_ += time;
}

Picoseconds Timelines::Upload(Bytes bytes) {
  Trace("TransferToDevice", costs_.transfer_issue);
  link_ = std::max(link_, tracing_) + bytes / costs_.pcie;
  return link_;
}

Picoseconds Timelines::WaitForDispatch() {
  const Picoseconds begin = tracing_;
  const Picoseconds end = std::max(tracing_, dispatch_) + costs_.barrier;
  Record(Track::kTracing, "TensorCollectionBarrier", begin, end);
  tracing_ = end;
  return end - begin;
}

Execution Timelines::Launch(const std::string& name, Picoseconds device_time,
                            Picoseconds inputs, int64_t buffers) {
  const Picoseconds start = std::max(tracing_, dispatch_);
  Picoseconds handed = start + costs_.launch + costs_.launch_buffer * buffers;
  if (in_flight_.size() >= costs_.queue_depth) {
    handed = std::max(handed, in_flight_.front());
    in_flight_.pop_front();
  }
  dispatch_ = handed;
  Execution e;
  e.enqueued = handed;
  const Picoseconds free = device_;
  e.begin = std::max({free, handed, inputs});
  e.end = e.begin + device_time;
  const Picoseconds without_input = std::max(free, handed);
  e.idle_for_host = without_input - free;
  e.idle_for_input = e.begin - without_input;
  device_ = e.end;
  in_flight_.push_back(e.end);
  Record(Track::kDispatch, "ExecuteComputation", start, handed);
  Record(Track::kDevice, name, e.begin, e.end);
  return e;
}

Picoseconds Timelines::ReadBack(Picoseconds ready) {
  const Picoseconds begin = tracing_;
  const Picoseconds end = std::max(tracing_, ready) + costs_.read_back;
  Record(Track::kTracing, "TransferFromDevice", begin, end);
  tracing_ = end;
  return end - begin;
}

}  // namespace ptxla::runtime
