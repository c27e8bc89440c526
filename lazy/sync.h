// What an executor needs at a step barrier and when a value is read: which
// tensors are pending, their graph, its hash, the parameters whose buffers may
// be overwritten, and the hand-over of the new buffers.
//
//   SyncGraph sync = CollectSync(device);
//   if (sync.tensors.empty()) return absl::OkStatus();
//   if (!cache.contains(sync.hash)) {
//     ASSIGN_OR_RETURN(auto module, LowerToHlo(sync.graph, {.donors = ...}));
//     ... compile ...
//   }
//   std::vector<DeviceDataPtr> outputs = MakeOutputBuffers(device, sync);
//   ... enqueue, filling `outputs` ...
//   FinishSync(sync, outputs);
//
// Follows XLAGraphExecutor::SyncTensorsGraphInternal of PyTorch/XLA.
#ifndef PTXLA_LAZY_SYNC_H_
#define PTXLA_LAZY_SYNC_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "lazy/device.h"
#include "lazy/graph.h"

namespace ptxla::lazy {

struct SyncGraph {
  // The outputs in order: output i of the program is the value of tensor i.
  std::vector<LazyTensorPtr> tensors;
  Graph graph;  // graph.roots[i] belongs to tensors[i]
  // Parameters (indices into graph.parameters) whose buffers the program may
  // overwrite, ascending: those that an in-place update has replaced.
  std::vector<int> donors;
  // Cache key: structure, donors, and whether this is a step barrier.
  uint64_t hash = 0;
};

// All live pending tensors, oldest first: a step barrier. A tensor whose value
// is a bare buffer takes the buffer and is not computed.
SyncGraph CollectSync(Device* device);

// Only these tensors, as reading a value does: nothing is donated, and the
// same work is part of the next barrier again.
SyncGraph CollectTensors(absl::Span<LazyTensor* const> tensors);

// One buffer per output, without a host value.
std::vector<DeviceDataPtr> MakeOutputBuffers(Device* device,
                                             const SyncGraph& sync);

// Every tensor of the barrier holds its buffer; the lazy graph is let go.
void FinishSync(const SyncGraph& sync, absl::Span<const DeviceDataPtr> outputs);

}  // namespace ptxla::lazy

#endif  // PTXLA_LAZY_SYNC_H_
