#include "hlo_backend/passes/layout/plane_slices.h"

#include <algorithm>
#include <vector>

#include "hlo_backend/analysis/tiled_bitcast.h"
#include "hlo_backend/analysis/vector_loops.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/dimension_utils.h"

namespace ptxla::hlo {
namespace {

// Of what `slice` takes: the first of its planes along dimension 0, if it takes
// all of the others; -1: it does not.
int64_t FirstPlane(const Instruction& slice) {
  const Shape &from = slice.operand(0)->shape(), &to = slice.shape();
  const SliceAttrs& attrs = slice.attrs<SliceAttrs>();
  if (to.rank() < 3) return -1;
  for (int d = 1; d < to.rank(); ++d) {
    if (to.dim(d) != from.dim(d)) return -1;
  }
  for (const int64_t stride : attrs.strides) {
    if (stride != 1) return -1;
  }
  return attrs.starts[0];
}

// The slice of rows that stands for `bitcast`; null: it is none of planes.
Instruction* AsRows(Instruction* bitcast) {
  Instruction* slice = bitcast->operand(0);
  if (slice->opcode() != Opcode::kSlice || slice->shape().dim(0) != 1 ||
      bitcast->shape().rank() < 2 || !bitcast->shape().has_layout() ||
      !bitcast->shape().layout().IsRowMajor() ||
      !SameUpToDegenerateDims(bitcast->shape(), slice->shape())) {
    return nullptr;
  }
  const int64_t plane = FirstPlane(*slice);
  if (plane < 0) return nullptr;
  Instruction* stack = slice->operand(0);
  DimVector dims = bitcast->shape().dims();
  const int64_t rows = dims[0];
  dims[0] *= stack->shape().dim(0);
  Shape matrix = bitcast->shape();
  matrix.set_dim(0, dims[0]);
  if (!IsTiledBitcast(stack->shape(), matrix)) return nullptr;
  SliceAttrs attrs;
  attrs.starts.assign(dims.size(), 0);
  attrs.limits = bitcast->shape().dims();
  attrs.strides.assign(dims.size(), 1);
  attrs.starts[0] = plane * rows;
  attrs.limits[0] = attrs.starts[0] + rows;
  Computation* c = bitcast->parent();
  Instruction* whole = c->Add(Opcode::kBitcast, matrix, {stack});
  Instruction* part =
      c->Add(Opcode::kSlice, bitcast->shape(), {whole}, std::move(attrs));
  part->set_metadata(slice->shared_metadata());
  if (IsTileSlice(*part)) return part;
  return nullptr;
}

}  // namespace

bool CutPlanesAsRows(Computation* computation) {
  bool changed = false;
  for (Instruction* i : computation->PostOrder()) {
    if (i->opcode() != Opcode::kBitcast || i->IsRoot()) continue;
    Instruction* rows = AsRows(i);
    if (rows == nullptr) continue;
    computation->Replace(i, rows);
    changed = true;
  }
  computation->RemoveDead();
  return changed;
}

}  // namespace ptxla::hlo
