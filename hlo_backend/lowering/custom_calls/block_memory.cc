// Loads and stores of a Mosaic kernel, and what of one waits for the other.
#include <utility>
#include <vector>

#include "hlo_backend/lowering/custom_calls/block_schedule.h"

namespace ptxla::lowering {

using mosaic::Operation;
using mosaic::Type;

// What was stored to this memory before is there when its register is.
void BlockSchedule::Load(const Operation& op) {
  Registers out = Full(TypeOf(op.results[0]));
  const Registers* stored = nullptr;
  int all = -1;
  for (const int value : op.operands) {
    if (!TypeOf(value).IsMemRef()) continue;
    const auto found = stored_.find(value);
    if (found == stored_.end()) continue;
    if (found->second.size() == out.size()) {
      stored = &found->second;
    } else {
      all = stores_[value];
    }
  }
  const int kind =
      Kind(isa::Slot::kLoad, model_.Latency(isa::LatencyKey::kVectorLoad));
  for (size_t k = 0; k < out.nodes.size(); ++k) {
    out.nodes[k] =
        graph_.Add(kind, {stored == nullptr ? all : stored->nodes[k]});
  }
  values_[op.results[0]] = std::move(out);
}

void BlockSchedule::Store(const Operation& op) {
  // The vector that is stored, wherever it stands among the operands.
  int vector = -1, memory = -1;
  for (const int value : op.operands) {
    const Type& type = TypeOf(value);
    if (type.IsMemRef()) memory = value;
    if (!type.IsVector()) continue;
    if (vector < 0 || RegistersOf(type) > RegistersOf(TypeOf(vector))) {
      vector = value;
    }
  }
  if (vector < 0) return;
  const Registers& from = Of(vector);
  Registers out = Full(TypeOf(vector));
  if (from.size() >= out.size()) {
    // Rows of a column are registers, whatever the type's last dimension is.
    out.rows = from.rows;
    out.columns = from.columns;
    out.nodes.resize(static_cast<size_t>(out.size()));
  }
  const int kind = Kind(isa::Slot::kStore, 1);
  for (int64_t r = 0; r < out.rows; ++r) {
    for (int64_t c = 0; c < out.columns; ++c) {
      out.nodes[r * out.columns + c] =
          graph_.Add(kind, {from.At(r, c, out.rows, out.columns)});
    }
  }
  if (memory < 0) return;
  const auto before = stores_.find(memory);
  std::vector<int> all = out.nodes;
  if (before != stores_.end()) all.push_back(before->second);
  stores_[memory] = graph_.Join(all);
  stored_[memory] = std::move(out);
}

}  // namespace ptxla::lowering
