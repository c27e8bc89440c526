// NestCode: what is computed before loops.
#include <algorithm>

#include "base/status.h"
#include "hlo_backend/lowering/fusion/nest.h"

namespace ptxla::lowering {

// What does not vary along the loops that begin here is computed before them,
// as far as registers allow.
absl::Status NestCode::Hoist(int position) {
  if (g_.packed_bf16) return absl::OkStatus();  // only constants stay
  uint32_t inner = 0;
  bool loops = false;
  for (size_t p = position; p < plan_.order.size(); ++p) {
    const int axis = plan_.order[p];
    inner |= 1u << axis;
    loops |= extent_[axis] > plan_.unroll[axis];
  }
  if (!loops) return absl::OkStatus();
  // Only in front of a loop: the axis itself must iterate.
  const int axis = plan_.order[position];
  if (extent_[axis] <= plan_.unroll[axis]) return absl::OkStatus();
  std::fill(frontier_.begin(), frontier_.end(), false);
  for (size_t n = 0; n < e_.nodes.size(); ++n) {
    if (!(node_axes_[n] & inner)) continue;
    const ExprNode& node = e_.nodes[n];
    const int immediate = e_.ImmediateInput(node);
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      if (static_cast<int>(k) != immediate) frontier_[node.inputs[k]] = true;
    }
  }
  for (int root : e_.roots) frontier_[root] = true;
  Forget();
  bool open = false;
  const int keep_vectors = b_.model().vregs / 2;
  const int keep_masks = b_.model().masks / 2;
  for (size_t n = 0; n < e_.nodes.size(); ++n) {
    if (!frontier_[n] || (node_axes_[n] & inner)) continue;
    if (e_.node_stage[n] > stage_) continue;
    const bool by_row = g_.row_axis >= 0 && (node_axes_[n] >> g_.row_axis & 1);
    const bool by_column =
        g_.column_axis >= 0 && (node_axes_[n] >> g_.column_axis & 1);
    const int rows = by_row ? region_.rows : 1;
    const int columns = by_column ? region_.columns : 1;
    if (b_.FreeGlobals(isa::RegClass::kVector) - rows * columns <
        keep_vectors) {
      continue;
    }
    const bool pred = e_.nodes[n].type == hlo::PrimitiveType::kPred;
    if (pred &&
        b_.FreeGlobals(isa::RegClass::kMask) - rows * columns < keep_masks) {
      continue;
    }
    if (!open) b_.NewBlock("hoisted");
    open = true;
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c) {
        const TileKey key = Key(static_cast<int>(n), r, c);
        if (global_.contains(key)) continue;
        ASSIGN_OR_RETURN(Value v, Eval(static_cast<int>(n), r, c));
        if (v.is_mask()) {
          b_.Promote(v.mask);
        } else {
          b_.Promote(v.vec);
        }
        global_[key] = v;
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace ptxla::lowering
