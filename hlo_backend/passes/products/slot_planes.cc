#include "hlo_backend/passes/products/slot_planes.h"

#include <algorithm>
#include <utility>

#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"

namespace ptxla::hlo {
namespace {

// Rows worth a product of their own (turned_results.h), and no whole tiles.
bool IsRagged(int64_t lanes) { return lanes > kLanes && lanes % kLanes != 0; }

bool IsProductOfSlots(const Instruction& dot) {
  if (dot.opcode() != Opcode::kDot || dot.shape().has_layout() ||
      HasControlEdges(dot)) {
    return false;
  }
  const auto& a = dot.attrs<DotAttrs>();
  const Shape& right = dot.operand(1)->shape();
  if (!a.sparsity.empty() || !a.lhs_batch.empty() ||
      a.rhs_contracting.size() != 1 || dot.operand(0)->shape().rank() != 2 ||
      right.rank() != 3 || a.rhs_contracting[0] == 0) {
    return false;
  }
  // Who wants them joined has them so.
  const bool wanted_joined = std::any_of(
      dot.users().begin(), dot.users().end(), [](const Instruction* user) {
        return user->opcode() == Opcode::kReshape;
      });
  const Shape& left = dot.operand(0)->shape();
  return left.dim(static_cast<int>(1 - a.lhs_contracting[0])) >= kLanes &&
         IsRagged(right.dim(static_cast<int>(3 - a.rhs_contracting[0]))) &&
         !wanted_joined && !dot.IsRoot();
}

Instruction* AsMembers(Instruction* dot) {
  const auto& a = dot->attrs<DotAttrs>();
  const Shape& left = dot->operand(0)->shape();
  const Shape& right = dot->operand(1)->shape();
  const auto k = static_cast<int>(a.lhs_contracting[0]);
  Builder b(dot->parent());
  b.set_metadata(dot->shared_metadata());
  Instruction* shared = b.Broadcast(
      dot->operand(0), {right.dim(0), left.dim(0), left.dim(1)}, {1, 2});
  DotAttrs attrs = a;
  attrs.lhs_batch = attrs.rhs_batch = {0};
  attrs.lhs_contracting = a.rhs_contracting;
  attrs.rhs_contracting = {k + 1};
  auto& precision = attrs.precision.operands;
  if (precision.size() == 2) std::swap(precision[0], precision[1]);
  const DimVector dims = {right.dim(0),
                          right.dim(static_cast<int>(3 - a.rhs_contracting[0])),
                          left.dim(1 - k)};
  Instruction* product = dot->parent()->AddLike(
      *dot, Shape::Array(dot->shape().type(), dims), {dot->operand(1), shared});
  *product->mutable_attrs<DotAttrs>() = std::move(attrs);
  return b.Transpose(product, {2, 0, 1});
}

}  // namespace

absl::StatusOr<bool> SlotPlanesPass::Run(Module* module, const PassContext&) {
  if (module->config().is_scheduled) return false;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    for (Instruction* i : c->PostOrder()) {
      if (!IsProductOfSlots(*i)) continue;
      c->Replace(i, AsMembers(i));
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
