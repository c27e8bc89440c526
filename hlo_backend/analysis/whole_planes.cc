#include "hlo_backend/analysis/whole_planes.h"

#include <algorithm>

#include "base/units.h"
#include "hlo_backend/analysis/tiled_layout.h"

namespace ptxla::hlo {

bool FillsTiles(int64_t height, int64_t width) {
  return RoundUpTo(height, kTileRows) * RoundUpTo(width, kLanes) <=
         2 * height * width;
}

bool AreCopiedAsTheyLie(PrimitiveType type, const DimVector& plane,
                        int64_t rows, int64_t planes) {
  // Places in registers of 31 bits, in rows of 512 bytes.
  constexpr int64_t kMostBytes = ((int64_t{1} << 31) - 1) * 512;
  const size_t rank = plane.size();
  if (rank < 2 || type == PrimitiveType::kPred || BitWidth(type) < 8) {
    return false;
  }
  if (!FillsTiles(plane[rank - 2], plane[rank - 1])) return false;
  int64_t bytes = BitWidth(type) / 8;
  for (const int64_t size : plane) bytes *= size;
  return 2 * bytes <= kMostBytes / std::max(rows, planes);
}

}  // namespace ptxla::hlo
