#include "hlo_backend/lowering/movement/word_rows.h"

#include <algorithm>

namespace ptxla::lowering {

using hlo::DimVector;

bool WordRows::ElementAt(const WordPlace& at, DimVector* index) const {
  if (a_.linear != 0) {
    const int64_t element = (at.row * a_.packing + at.part) * 128 + at.lane;
    if (element >= a_.linear) return false;
    index->assign(a_.rank(), element);
    return true;
  }
  const int64_t per_tile = a_.tile_rows / a_.packing;
  const int64_t tile = at.row / per_tile;
  const int64_t per_plane = a_.tiles_down * a_.tiles_across;
  const int64_t row = tile % per_plane / a_.tiles_across * a_.tile_rows +
                      at.row % per_tile * a_.packing + at.part;
  const int64_t column = tile % a_.tiles_across * 128 + at.lane;
  if (row >= a_.rows || column >= a_.columns) return false;
  const int rank = a_.rank();
  index->assign(rank, 0);
  (*index)[a_.dims[rank - 1]] = column;
  (*index)[a_.dims[rank - 2]] = row;
  int64_t plane = tile / per_plane;
  for (int d = rank - 3; d >= 0; --d) {
    (*index)[a_.dims[d]] = plane % a_.sizes[d];
    plane /= a_.sizes[d];
  }
  return true;
}

WordPlace WordRows::PlaceOf(const DimVector& index) const {
  WordPlace at;
  if (a_.linear != 0) {
    const int64_t element = a_.rank() == 0 ? 0 : index[0];
    const int64_t row = element / 128;
    at.row = row / a_.packing;
    at.part = static_cast<int>(row % a_.packing);
    at.lane = static_cast<int>(element % 128);
    return at;
  }
  const int rank = a_.rank();
  int64_t plane = 0;
  for (int d = 0; d + 2 < rank; ++d) {
    plane = plane * a_.sizes[d] + index[a_.dims[d]];
  }
  const int64_t row = index[a_.dims[rank - 2]];
  const int64_t column = index[a_.dims[rank - 1]];
  const int64_t tile =
      (plane * a_.tiles_down + row / a_.tile_rows) * a_.tiles_across +
      column / 128;
  at.row = tile * (a_.tile_rows / a_.packing) + row % a_.tile_rows / a_.packing;
  at.part = static_cast<int>(row % a_.tile_rows % a_.packing);
  at.lane = static_cast<int>(column % 128);
  return at;
}

int WordRows::ValidLanes(int64_t row, int part) const {
  if (a_.linear != 0) {
    const int64_t first = (row * a_.packing + part) * 128;
    return static_cast<int>(std::clamp<int64_t>(a_.linear - first, 0, 128));
  }
  DimVector index;
  if (!ElementAt({row, part, 0}, &index)) return 0;
  return static_cast<int>(
      std::min<int64_t>(128, a_.columns - index[a_.dims[a_.rank() - 1]]));
}

}  // namespace ptxla::lowering
