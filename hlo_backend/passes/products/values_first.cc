#include "hlo_backend/passes/products/values_first.h"

#include <algorithm>

#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/products/in_tiles.h"

namespace ptxla::hlo {
namespace {

// Rows of heads again, for products alone.
bool IsProjected(const Instruction& transpose) {
  if (transpose.user_count() != 1 || transpose.IsRoot()) return false;
  const Instruction& rows = *transpose.users()[0];
  return rows.opcode() == Opcode::kReshape && rows.user_count() > 0 &&
         !rows.IsRoot() &&
         std::all_of(
             rows.users().begin(), rows.users().end(),
             [](const Instruction* u) { return u->opcode() == Opcode::kDot; });
}

}  // namespace

bool IsValuesFirst(const Instruction& dot, const chips::ChipSpec& chip) {
  if (dot.user_count() != 1) return false;
  const Instruction& next = *dot.users()[0];
  if (next.opcode() != Opcode::kTranspose || HasControlEdges(next)) {
    return false;
  }
  const int rank = dot.shape().rank();
  const int64_t minor = next.dimensions().back();
  const int64_t queries = dot.shape().dim(rank - 2);
  const int64_t depth = dot.shape().dim(rank - 1);
  if (minor == rank - 2) return true;
  const bool is_fuller = InTiles(depth, queries) <= InTiles(queries, depth);
  if (minor < rank - 2) return is_fuller;
  return chip.core().mxu_cols <= kLanes || depth % kLanes != 0 ||
         IsProjected(next);
}

}  // namespace ptxla::hlo
