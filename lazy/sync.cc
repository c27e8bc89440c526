#include "lazy/sync.h"

#include "absl/container/flat_hash_set.h"
#include "base/check.h"
#include "base/hash.h"

namespace ptxla::lazy {
namespace {

SyncGraph Finish(std::vector<LazyTensorPtr> tensors, bool is_barrier) {
  SyncGraph sync;
  sync.tensors = std::move(tensors);
  std::vector<Value> roots;
  roots.reserve(sync.tensors.size());
  for (const LazyTensorPtr& t : sync.tensors) roots.push_back(t->ir());
  sync.graph = MakeGraph(std::move(roots));
  if (is_barrier) {
    absl::flat_hash_set<int64_t> replaced;
    for (const LazyTensorPtr& t : sync.tensors) replaced.insert(t->alias_id());
    const auto& parameters = sync.graph.parameters;
    for (int i = 0; i < static_cast<int>(parameters.size()); ++i) {
      const DeviceData& data = *parameters[i];
      if (data.read_only) continue;
      if (data.should_donate || replaced.contains(data.tensor_id)) {
        sync.donors.push_back(i);
      }
    }
  }
  Fingerprint f;
  f.Add(int64_t{is_barrier})
      .Add(static_cast<int64_t>(StructureHash(sync.graph)));
  for (int donor : sync.donors) f.Add(int64_t{donor});
  sync.hash = f.value();
  return sync;
}

}  // namespace

SyncGraph CollectSync(Device* device) {
  std::vector<LazyTensorPtr> tensors;
  for (LazyTensor* t = device->first_tensor(); t != nullptr; t = t->next()) {
    if (!t->has_pending_ir()) continue;
    const Value& ir = t->pending_ir();
    if (ir.node->kind() == OpKind::kDeviceData) {
      t->SetData(ir.node->attrs<DataAttrs>().data);
    } else {
      tensors.emplace_back(t);
    }
  }
  return Finish(std::move(tensors), /*is_barrier=*/true);
}

SyncGraph CollectTensors(absl::Span<LazyTensor* const> tensors) {
  std::vector<LazyTensorPtr> pending;
  for (LazyTensor* t : tensors) {
    if (t->has_pending_ir()) pending.emplace_back(t);
  }
  return Finish(std::move(pending), /*is_barrier=*/false);
}

std::vector<DeviceDataPtr> MakeOutputBuffers(Device* device,
                                             const SyncGraph& sync) {
  std::vector<DeviceDataPtr> outputs;
  outputs.reserve(sync.tensors.size());
  for (const LazyTensorPtr& t : sync.tensors) {
    // The program's results are row-major, whatever the traced layout.
    outputs.push_back(device->MakeData(t->ir().shape().RowMajor()));
    outputs.back()->label = t->label();
  }
  return outputs;
}

void FinishSync(const SyncGraph& sync,
                absl::Span<const DeviceDataPtr> outputs) {
  CHECK_EQ(outputs.size(), sync.tensors.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    sync.tensors[i]->SetData(outputs[i]);
  }
}

}  // namespace ptxla::lazy
