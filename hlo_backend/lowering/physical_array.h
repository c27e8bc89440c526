// An array as it lies in tiled memory, seen as planes of rows and columns: what
// kernels iterate over.
//
// Physical dimensions are the logical ones from major to minor; the last two
// are rows and columns, the others (majors) are planes, one after the other. A
// plane is cut into tiles of tile_rows x 128, row by row. Narrow types pack 2,
// 4 or 8 neighbouring rows of a tile into each 32-bit word, so a tile has
// tile_rows / packing sublanes.
//
// A 1-D array is one column of tiles: rows of 128 elements, and `linear` is its
// length. A scalar is a 1-D array of one element.
//
//   ASSIGN_OR_RETURN(PhysicalArray a, PhysicalArray::Of(shape));
//   a.TileOffset(plane, row_tile, column_tile)      // bytes
#ifndef PTXLA_HLO_BACKEND_LOWERING_PHYSICAL_ARRAY_H_
#define PTXLA_HLO_BACKEND_LOWERING_PHYSICAL_ARRAY_H_

#include <cstdint>

#include "absl/numeric/bits.h"
#include "absl/status/statusor.h"
#include "hlo_backend/ir/shape.h"

namespace ptxla::lowering {

struct PhysicalArray {
  hlo::PrimitiveType type = hlo::PrimitiveType::kInvalid;
  int bits = 32;
  int packing = 1;  // rows per 32-bit word
  // Logical dimension numbers and sizes from major to minor.
  hlo::DimVector dims, sizes;
  int64_t planes = 1, rows = 1, columns = 1;
  int64_t tile_rows = 8;
  int64_t tiles_down = 1, tiles_across = 1;
  int64_t linear = 0;  // length of a 1-D array; 0: not 1-D

  // Unimplemented: 64-bit or complex elements, tiles of other forms.
  // `fours`: 4-bit elements too, for callers that know them.
  static absl::StatusOr<PhysicalArray> Of(const hlo::Shape& shape,
                                          bool fours = false);

  // 32-bit words of these dimensions (logical numbers and sizes, major to
  // minor) in tiles of 8 x 128, or dense if there is one: arrays in scratch.
  static PhysicalArray Words(const hlo::DimVector& dims,
                             const hlo::DimVector& sizes);

  int packing_log2() const {
    return absl::countr_zero(static_cast<uint32_t>(packing));
  }
  int64_t tile_bytes() const { return tile_rows * 128 * bits / 8; }
  int64_t tiles() const { return planes * tiles_down * tiles_across; }
  int64_t bytes() const { return tiles() * tile_bytes(); }
  // Transfers count places in it in units of 2^place_shift bytes: in bytes if
  // 31 bits reach its end, or else in rows of 512 (DmaDescriptor::arg_shift).
  int place_shift() const { return bytes() > INT32_MAX ? 9 : 0; }
  int64_t row_stride() const { return tiles_across * tile_bytes(); }
  int64_t plane_stride() const { return tiles_down * row_stride(); }
  int64_t TileOffset(int64_t plane, int64_t row_tile, int64_t column) const {
    return plane * plane_stride() + row_tile * row_stride() +
           column * tile_bytes();
  }
  int rank() const { return static_cast<int>(sizes.size()); }
  // Bytes from one index of physical dimension `p` to the next, for majors.
  int64_t PlanePitch(int p) const {
    int64_t pitch = plane_stride();
    for (int q = p + 1; q < rank() - 2; ++q) pitch *= sizes[q];
    return pitch;
  }
  // Tiles of 8 rows, or one lower tile down.
  bool HasHighTiles() const {
    return tile_rows == 8 || (tile_rows < 8 && tiles_down == 1);
  }
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PHYSICAL_ARRAY_H_
