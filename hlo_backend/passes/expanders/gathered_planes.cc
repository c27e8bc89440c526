#include "hlo_backend/passes/expanders/gathered_planes.h"

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "hlo_backend/passes/dimension_utils.h"

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

// Padding to whole tiles at most doubles it.
bool FillsTiles(int64_t height, int64_t width) {
  constexpr int64_t kTileRows = 8, kTileColumns = 128;
  return RoundUpTo(height, kTileRows) * RoundUpTo(width, kTileColumns) <=
         2 * height * width;
}

// Where the last two dimensions would fill their tiles the other way round
// only: as compact layouts have such arrays.
bool LiesTurned(const DimVector& plane) {
  const size_t rank = plane.size();
  return rank >= 2 && !FillsTiles(plane[rank - 2], plane[rank - 1]) &&
         FillsTiles(plane[rank - 1], plane[rank - 2]);
}

DimVector Turned(DimVector dims) {
  std::swap(dims[dims.size() - 2], dims[dims.size() - 1]);
  return dims;
}

}  // namespace

bool AreCopiedAsTheyLie(PrimitiveType type, const DimVector& plane,
                        int64_t rows, int64_t planes) {
  constexpr int64_t kMostBytes = (int64_t{1} << 31) - 1;
  const size_t rank = plane.size();
  if (rank < 2 || type == PrimitiveType::kPred || BitWidth(type) < 8) {
    return false;
  }
  if (!FillsTiles(plane[rank - 2], plane[rank - 1])) return false;
  int64_t bytes = BitWidth(type) / 8;
  for (const int64_t size : plane) bytes *= size;
  return 2 * bytes <= kMostBytes / std::max(rows, planes);
}

Instruction* GatherPlanes(Builder& b, const Instruction& gather, Instruction* x,
                          RowIndices& rows) {
  const DimVector named = PlaneOf(gather, x->shape(), rows);
  const bool turned = LiesTurned(named);
  const DimVector plane = turned ? Turned(named) : named;
  if (!AreCopiedAsTheyLie(x->shape().type(), plane, rows.rows(),
                          rows.count())) {
    return nullptr;
  }
  DimVector dims = {rows.rows()};
  dims.insert(dims.end(), named.begin(), named.end());
  Instruction* table = b.Reshape(b.Transpose(x, rows.order()), dims);
  DimVector order = Identity(static_cast<int>(dims.size()));
  if (turned) {
    order = Turned(order);
    table = b.Transpose(table, order);
    dims = Turned(dims);
  }
  GatherAttrs a;
  for (size_t d = 1; d < dims.size(); ++d) {
    a.offset_dims.push_back(static_cast<int64_t>(d));
  }
  a.collapsed_slice_dims = {0};
  a.start_index_map = {0};
  a.index_vector_dim = 1;
  dims[0] = 1;
  a.slice_sizes = dims;
  return b.Transpose(b.Gather(table, rows.Clamped(), a), order);
}

}  // namespace ptxla::hlo
