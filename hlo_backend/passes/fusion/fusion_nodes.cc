#include "hlo_backend/passes/fusion/fusion_nodes.h"

#include <algorithm>

#include "hlo_backend/analysis/bounded_rows.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/ir/dimensions.h"

namespace ptxla::hlo {
namespace {

// Lanes and tiles are read where they lie: what spreads or reorders them needs
// an array of its own.
bool IsReadInPlace(const Instruction& lanes) {
  return std::none_of(lanes.users().begin(), lanes.users().end(),
                      [](const Instruction* u) {
                        return u->opcode() == Opcode::kBroadcast ||
                               u->opcode() == Opcode::kReshape ||
                               u->opcode() == Opcode::kBitcast ||
                               u->opcode() == Opcode::kTranspose;
                      });
}

FusionRole RoleOf(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kConstant:
      return i.shape().IsScalar() ? FusionRole::kFree : FusionRole::kStored;
    case Opcode::kBroadcast:
    case Opcode::kIota:
      return IsRowMajor(i.shape()) && BitWidth(i.shape().type()) <= 32
                 ? FusionRole::kFree
                 : FusionRole::kStored;
    case Opcode::kSlice:
    case Opcode::kConcatenate:
      return (IsLaneSlice(i) || IsTileSlice(i) || LaneRotation(i) > 0) &&
                     IsReadInPlace(i) && i.control_predecessors().empty() &&
                     i.control_successors().empty()
                 ? FusionRole::kFree
                 : FusionRole::kStored;
    case Opcode::kConvolution:
      return IsProduct(i) ? FusionRole::kDot : FusionRole::kStored;
    case Opcode::kDot:
      return FusionRole::kDot;
    case Opcode::kReduce:
      return IsFusibleReduce(i) && IsRowMajor(i.operand(0)->shape())
                 ? FusionRole::kReduce
                 : FusionRole::kStored;
    default:
      break;
  }
  if (!IsLoopElementwise(i) || !IsRowMajor(i.shape()) || BoundsPaddedRows(i) ||
      !i.control_predecessors().empty() || !i.control_successors().empty()) {
    return FusionRole::kStored;
  }
  for (const Instruction* o : i.operands()) {
    if (!IsRowMajor(o->shape())) return FusionRole::kStored;
  }
  return FusionRole::kElementwise;
}

}  // namespace

FusionNodes::FusionNodes(absl::Span<Instruction* const> order)
    : nodes_(order.size()) {
  int last_id = -1;
  for (const Instruction* i : order) last_id = std::max(last_id, i->id());
  number_.assign(last_id + 1, -1);
  for (size_t n = 0; n < order.size(); ++n) {
    number_[order[n]->id()] = static_cast<int>(n);
    nodes_[n].role = RoleOf(*order[n]);
  }
}

}  // namespace ptxla::hlo
