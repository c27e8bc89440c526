#include "hlo_backend/lowering/custom_calls/block_schedule.h"

#include <algorithm>
#include <utility>

#include "absl/strings/string_view.h"
#include "base/units.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/lowering/custom_calls/block_operations.h"

namespace ptxla::lowering {
namespace {

using mosaic::Operation;
using mosaic::Type;

int64_t ColumnsOf(const Type& type) {
  return type.dims.empty()
             ? 1
             : std::max<int64_t>(
                   1, CeilOfRatio<int64_t>(type.dims.back(), hlo::kLanes));
}

}  // namespace

int64_t RegistersOf(const Type& type) {
  if (!type.IsVector() || type.dims.empty()) return 1;
  // Masks have a bit per word.
  const int bits = std::max(type.element->bits, 1);
  const int64_t rows =
      hlo::kTileRows * (bits == 1 || bits >= 32 ? 1 : 32 / bits);
  const size_t rank = type.dims.size();
  int64_t n = CeilOfRatio<int64_t>(type.dims[rank - 1], hlo::kLanes);
  if (rank > 1) n *= CeilOfRatio<int64_t>(type.dims[rank - 2], rows);
  for (size_t d = 0; d + 2 < rank; ++d) n *= type.dims[d];
  return std::max<int64_t>(1, n) * (bits == 64 ? 2 : 1);
}

BlockRules BlockRulesOf(const chips::ChipSpec& chip) {
  BlockRules rules;
  rules.sums_in_arrays = chip.Policy("pallas_sums_in_arrays").value_or(0) > 0;
  rules.reduce_to_permute = chip.Interval("xlu_reduce_to_permute").value_or(0);
  rules.permute_to_reduce = chip.Interval("xlu_permute_to_reduce").value_or(0);
  return rules;
}

int64_t BlockSchedule::Finish() {
  arrays_.assign(static_cast<size_t>(std::max(1, model_.mxus)), {});
  ChooseArrays();
  graph_.SetSwitches(rules_.reduce_to_permute, rules_.permute_to_reduce);
  for (const Operation* op : operations_) Expand(*op);
  const int64_t cycles = graph_.Schedule();
  instructions_ = graph_.Instructions();
  graph_ = IssueGraph(model_);
  operations_.clear();
  values_.clear();
  spread_.clear();
  reciprocals_.clear();
  stored_.clear();
  stores_.clear();
  array_of_.clear();
  return cycles;
}

void BlockSchedule::Expand(const Operation& op) {
  const bool vector_result =
      !op.results.empty() && TypeOf(op.results[0]).IsVector();
  if (!vector_result && !IsStore(op.name) && !IsReduction(op.name)) return;
  if (!op.results.empty() && !live_[op.results[0]]) return;
  if (IsStore(op.name)) {
    Store(op);
  } else if (op.name == "arith.constant") {
    values_[op.results[0]].in_all_lanes = true;
  } else if (op.name == "vector.broadcast") {
    Broadcast(op);
  } else if (IsFree(op.name)) {
    if (!op.operands.empty()) values_[op.results[0]] = Of(op.operands[0]);
  } else if (IsReduction(op.name)) {
    Reduction(op);
  } else if (IsProduct(op.name)) {
    Product(op);
  } else if (IsLoad(op.name)) {
    Load(op);
  } else if (op.name == "tpu.iota") {
    Iota(op);
  } else if (IsTranspose(op.name)) {
    Transpose(op);
  } else if (op.name == "tpu.rotate" || op.name == "tpu.dynamic_rotate") {
    Rotate(op);
  } else {
    Elementwise(op);
  }
}

int BlockSchedule::Kind(isa::Slot slot, int latency, int count) {
  Work work;
  work.slots[static_cast<int>(slot)] =
      static_cast<uint8_t>(std::clamp(count, 0, 255));
  work.latency = std::max(1, latency);
  return graph_.Kind(work);
}

int BlockSchedule::XluKind(int latency, isa::IntervalKey interval,
                           XluMode mode) {
  Work work;
  work.slots[static_cast<int>(isa::Slot::kPop)] = 1;
  work.latency = latency;
  work.unit = graph_.XluUnits();
  work.mode = mode;
  work.interval = std::max(1, model_.Interval(interval));
  return graph_.Kind(work);
}

int BlockSchedule::Combine(std::vector<int> nodes, int kind) {
  while (nodes.size() > 1) {
    std::vector<int> next;
    for (size_t k = 0; k + 1 < nodes.size(); k += 2) {
      next.push_back(graph_.Add(kind, {nodes[k], nodes[k + 1]}));
    }
    if (nodes.size() % 2 == 1) next.push_back(nodes.back());
    nodes = std::move(next);
  }
  return nodes[0];
}

bool BlockSchedule::OnlyReadNarrow(int value) const {
  return OnlyReadBy(value, [this](const Operation& op) {
    return IsProduct(op.name) || (op.name == "arith.truncf" &&
                                  TypeOf(op.results[0]).element->bits <= 16);
  });
}

bool BlockSchedule::OnlyExponentialsRead(int value) const {
  return OnlyReadBy(value,
                    [](const Operation& op) { return op.name == "math.exp"; });
}

bool BlockSchedule::OnlyReadBy(
    int value, absl::FunctionRef<bool(const Operation&)> is_one) const {
  bool read = false;
  for (const Operation* op : operations_) {
    for (const int operand : op->operands) {
      if (operand != value) continue;
      if (!is_one(*op)) return false;
      read = true;
    }
  }
  return read;
}

bool BlockSchedule::IsOne(int value) const {
  constexpr int64_t kOne = 0x3f800000;
  for (const Operation* op : operations_) {
    if (op->results.empty() || op->results[0] != value) continue;
    if (op->name == "vector.broadcast") return IsOne(op->operands[0]);
    const mosaic::Attribute* constant =
        op->name == "arith.constant" ? op->Find("value") : nullptr;
    return constant != nullptr &&
           (constant->integer == kOne ||
            constant->text == absl::string_view("\0\0\x80\x3f", 4));
  }
  return false;
}

const BlockSchedule::Registers& BlockSchedule::Of(int value) {
  static const auto& scalar = *new Registers();
  const auto found = values_.find(value);
  if (found != values_.end()) return found->second;
  const Type& type = TypeOf(value);
  if (!type.IsVector()) return scalar;
  // Of an earlier piece.
  return values_[value] = Full(type);
}

BlockSchedule::Registers BlockSchedule::Full(const Type& type) const {
  Registers r;
  const int64_t all = RegistersOf(type);
  r.columns = std::min(all, ColumnsOf(type));
  r.rows = std::max<int64_t>(1, all / r.columns);
  r.nodes.assign(static_cast<size_t>(r.size()), -1);
  return r;
}

}  // namespace ptxla::lowering
