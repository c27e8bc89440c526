// Counts what tracing a step asks of the host, node by node.
//
//   TraceCounter counter;
//   counter.OnNode(device, node);            // per node that the tracer makes
//   counter.OnInPlace(node);                 // per in-place update
//   PerHostWork<int64_t> counts = counter.Take();
//   counts[HostWork::kRecordedCall]
#ifndef PTXLA_RUNTIME_TRACE_COUNTER_H_
#define PTXLA_RUNTIME_TRACE_COUNTER_H_

#include <cstdint>

#include "lazy/device.h"
#include "runtime/host_work.h"
#include "runtime/shape_cache.h"

namespace ptxla::runtime {

class TraceCounter {
 public:
  void OnNode(const lazy::Device& device, const lazy::Node& node);
  void OnInPlace(const lazy::Node& node);
  // What was counted since the last call. The shape cache goes on.
  PerHostWork<int64_t> Take();

 private:
  void Count(HostWork work) { ++counts_[static_cast<size_t>(work)]; }

  PerHostWork<int64_t> counts_{};
  ShapeCache shapes_;
};

}  // namespace ptxla::runtime

#endif  // PTXLA_RUNTIME_TRACE_COUNTER_H_
