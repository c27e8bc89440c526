#include "hlo_backend/lowering/physical_array.h"

#include "absl/strings/str_cat.h"
#include "base/units.h"
#include "hlo_backend/analysis/tiled_layout.h"

namespace ptxla::lowering {
namespace {

absl::Status Unsupported(const hlo::Shape& shape, absl::string_view why) {
  return absl::UnimplementedError(
      absl::StrCat(shape.ToStringWithLayout(), ": ", why));
}

int64_t Product(const hlo::Tile& tile) {
  int64_t product = 1;
  for (int64_t d : tile.dimensions) product *= d;
  return product;
}

}  // namespace

PhysicalArray PhysicalArray::Words(const hlo::DimVector& dims,
                                   const hlo::DimVector& sizes) {
  PhysicalArray a;
  a.type = hlo::PrimitiveType::kF32;
  a.dims = dims;
  a.sizes = sizes;
  const int rank = a.rank();
  if (rank <= 1) {
    a.linear = rank == 0 ? 1 : sizes[0];
    a.columns = 128;
    a.rows = CeilOfRatio<int64_t>(a.linear, 128);
  } else {
    a.rows = sizes[rank - 2];
    a.columns = sizes[rank - 1];
    for (int i = 0; i + 2 < rank; ++i) a.planes *= sizes[i];
  }
  a.tiles_down = CeilOfRatio<int64_t>(a.rows, a.tile_rows);
  a.tiles_across = CeilOfRatio<int64_t>(a.columns, 128);
  return a;
}

absl::StatusOr<PhysicalArray> PhysicalArray::Of(const hlo::Shape& shape,
                                                bool fours) {
  if (!shape.IsArray()) return Unsupported(shape, "not an array");
  PhysicalArray a;
  a.type = shape.type();
  a.bits = hlo::BitWidth(a.type);
  // Half a byte in a byte of its own (v2, v3) has none, either.
  const bool whole = hlo::ElementBits(shape) == a.bits;
  if (!whole || (!(a.bits == 4 && fours) && a.bits != 8 && a.bits != 16 &&
                 a.bits != 32)) {
    return Unsupported(shape, "elements of this width have no vector kernels");
  }
  a.packing = 32 / a.bits;
  const int rank = shape.rank();
  for (int i = rank - 1; i >= 0; --i) {
    const int64_t d = shape.has_layout() ? shape.layout().minor_to_major[i] : 0;
    a.dims.push_back(shape.has_layout() ? d : rank - 1 - i);
    a.sizes.push_back(shape.dim(static_cast<int>(a.dims.back())));
  }
  if (!shape.has_layout() || (shape.layout().tiles.empty() && rank > 0)) {
    return Unsupported(shape, "no tiles");
  }
  const auto& tiles = shape.layout().tiles;
  if (rank <= 1) {
    a.linear = rank == 0 ? 1 : a.sizes[0];
    a.columns = 128;
    a.rows = CeilOfRatio<int64_t>(a.linear, 128);
    const int64_t elements =
        tiles.empty() ? 128 * a.packing : Product(tiles[0]);
    if (elements % 128 != 0) return Unsupported(shape, "tile of a 1-D array");
    a.tile_rows = elements / 128;
    a.tiles_down = CeilOfRatio<int64_t>(a.rows, a.tile_rows);
    a.tiles_across = 1;
    return a;
  }
  if (tiles[0].dimensions.size() != 2 || tiles[0].dimensions[1] != 128) {
    return Unsupported(shape, "tiles are not rows of 128");
  }
  a.tile_rows = tiles[0].dimensions[0];
  a.rows = a.sizes[rank - 2];
  a.columns = a.sizes[rank - 1];
  for (int i = 0; i + 2 < rank; ++i) a.planes *= a.sizes[i];
  a.tiles_down = CeilOfRatio<int64_t>(a.rows, a.tile_rows);
  a.tiles_across = CeilOfRatio<int64_t>(a.columns, 128);
  if (a.packing > 1 && (tiles.size() < 2 || Product(tiles[1]) != a.packing ||
                        a.tile_rows % a.packing != 0)) {
    return Unsupported(shape, "rows are not packed into words");
  }
  return a;
}

}  // namespace ptxla::lowering
