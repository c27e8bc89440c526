#include "hlo_backend/passes/expanders/gathered_planes.h"

#include <algorithm>

#include "base/units.h"

namespace ptxla::hlo {
namespace {

// What a window has of the dimensions that it has whole, without those of
// size 1.
DimVector PlaneOf(const Instruction& gather, const Shape& x,
                  const RowIndices& rows) {
  DimVector plane;
  for (const int64_t d : rows.order()) {
    const bool whole = gather.attrs<GatherAttrs>().slice_sizes[d] == x.dim(d);
    if (whole && x.dim(d) != 1) plane.push_back(x.dim(d));
  }
  return plane;
}

}  // namespace

bool AreCopiedAsTheyLie(PrimitiveType type, const DimVector& plane,
                        int64_t rows, int64_t planes) {
  constexpr int64_t kTileRows = 8, kTileColumns = 128;
  constexpr int64_t kMostBytes = (int64_t{1} << 31) - 1;
  const size_t rank = plane.size();
  if (rank < 2 || type == PrimitiveType::kPred || BitWidth(type) < 8) {
    return false;
  }
  const int64_t height = plane[rank - 2], width = plane[rank - 1];
  if (RoundUpTo(height, kTileRows) * RoundUpTo(width, kTileColumns) >
      2 * height * width) {
    return false;
  }
  int64_t bytes = BitWidth(type) / 8;
  for (const int64_t size : plane) bytes *= size;
  return 2 * bytes <= kMostBytes / std::max(rows, planes);
}

Instruction* GatherPlanes(Builder& b, const Instruction& gather, Instruction* x,
                          RowIndices& rows) {
  const DimVector plane = PlaneOf(gather, x->shape(), rows);
  if (!AreCopiedAsTheyLie(x->shape().type(), plane, rows.rows(),
                          rows.count())) {
    return nullptr;
  }
  DimVector dims = {rows.rows()};
  dims.insert(dims.end(), plane.begin(), plane.end());
  Instruction* table = b.Reshape(b.Transpose(x, rows.order()), dims);
  GatherAttrs a;
  for (size_t d = 1; d < dims.size(); ++d) {
    a.offset_dims.push_back(static_cast<int64_t>(d));
  }
  a.collapsed_slice_dims = {0};
  a.start_index_map = {0};
  a.index_vector_dim = 1;
  dims[0] = 1;
  a.slice_sizes = dims;
  return b.Gather(table, rows.Clamped(), a);
}

}  // namespace ptxla::hlo
