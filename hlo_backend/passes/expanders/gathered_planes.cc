#include "hlo_backend/passes/expanders/gathered_planes.h"

#include <utility>

#include "hlo_backend/analysis/whole_planes.h"
#include "hlo_backend/passes/dimension_utils.h"

namespace ptxla::hlo {
namespace {

DimVector Swapped(DimVector dims) {
  std::swap(dims[dims.size() - 2], dims[dims.size() - 1]);
  return dims;
}

// Where the last two dimensions would fill their tiles the other way round
// only: as compact layouts have such arrays.
bool LieTurned(const DimVector& plane) {
  const size_t rank = plane.size();
  return rank >= 2 && !FillsTiles(plane[rank - 2], plane[rank - 1]) &&
         FillsTiles(plane[rank - 1], plane[rank - 2]);
}

}  // namespace

NamedPlanes::NamedPlanes(PrimitiveType type, const Shape& x,
                         const DimVector& sizes, const RowIndices& rows)
    : order_(rows.order()) {
  DimVector plane;
  for (const int64_t d : order_) {
    if (sizes[d] == x.dim(d) && x.dim(d) != 1) plane.push_back(x.dim(d));
  }
  turned_ = LieTurned(plane);
  are_copied_ = AreCopiedAsTheyLie(type, turned_ ? Swapped(plane) : plane,
                                   rows.rows(), rows.count());
  named_ = std::move(plane);
}

DimVector NamedPlanes::Stack(int64_t planes) const {
  DimVector dims = {planes};
  dims.insert(dims.end(), named_.begin(), named_.end());
  return dims;
}

Instruction* NamedPlanes::Turned(Builder& b, Instruction* stack) const {
  if (!turned_) return stack;
  return b.Transpose(stack, Swapped(Identity(stack->shape().rank())));
}

Instruction* NamedPlanes::Table(Builder& b, Instruction* x,
                                int64_t rows) const {
  return Turned(b, b.Reshape(b.Transpose(x, order_), Stack(rows)));
}

Instruction* GatherPlanes(Builder& b, const Instruction& gather, Instruction* x,
                          RowIndices& rows) {
  const NamedPlanes planes(x->shape().type(), x->shape(),
                           gather.attrs<GatherAttrs>().slice_sizes, rows);
  if (!planes.are_copied()) return nullptr;
  Instruction* table = planes.Table(b, x, rows.rows());
  GatherAttrs a;
  for (int d = 1; d < table->shape().rank(); ++d) a.offset_dims.push_back(d);
  a.collapsed_slice_dims = {0};
  a.start_index_map = {0};
  a.index_vector_dim = 1;
  a.slice_sizes = table->shape().dims();
  a.slice_sizes[0] = 1;
  return planes.Turned(b, b.Gather(table, rows.Clamped(), a));
}

Instruction* ReplacePlanes(Builder& b, const Instruction& scatter,
                           Instruction* x, Instruction* updates,
                           const DimVector& sizes, Computation* body,
                           RowIndices& rows) {
  const NamedPlanes planes(x->shape().type(), x->shape(), sizes, rows);
  if (!planes.are_copied()) return nullptr;
  ScatterAttrs a;
  Instruction* table = planes.Table(b, x, rows.rows());
  for (int d = 1; d < table->shape().rank(); ++d) {
    a.update_window_dims.push_back(d);
  }
  a.inserted_window_dims = {0};
  a.scatter_dims_to_operand_dims = {0};
  a.index_vector_dim = 1;
  a.unique_indices =
      scatter.attrs<ScatterAttrs>().unique_indices && rows.count() > 1;
  Instruction* u =
      planes.Turned(b, b.Reshape(updates, planes.Stack(rows.count())));
  table = b.Scatter({table}, rows.OrNone(), {u}, body, a);
  return rows.FromTable(planes.Turned(b, table));
}

}  // namespace ptxla::hlo
