// Tiled layouts of TPUs: which tiles a shape gets, how many bytes it takes with
// padding, and where each element lies.
//
//   Layout l = TpuLayout(Shape::Array(kBf16, {100, 200}), /*generation=*/6);
//   // {1,0:T(8,128)(2,1)}
//   PaddedBytes(bf16[100,200] with l) == 104 * 256 * 2
//
// The rules are DERIVED from what the TPU compiler prints for 2,514 shapes on
// v2, v3, v4, v5e, v6e and tpu7x, all of which they reproduce, and the sizes of
// three arrays of 1 and 2 bits on v6e.
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_TILED_LAYOUT_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_TILED_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo_backend/ir/shape.h"

namespace ptxla::hlo {

// Rows and columns of a vector register, and of a tile of 32-bit numbers.
inline constexpr int64_t kTileRows = 8, kLanes = 128;

// Tiles for an array whose dimension order is `shape.layout()`'s (row-major if
// it has none). `generation`: 2 to 7 (v5e and v5p: 5). The memory space is
// kept.
Layout TpuLayout(const Shape& shape, int generation);
// The layout that the TPU compiler gives an argument or result whose layout the
// caller leaves open: of all choices of the two minor dimensions the one with
// the least padding; the others stay in row-major order.
Layout CompactTpuLayout(const Shape& shape, int generation);
// Every array of the shape gets its TpuLayout.
Shape WithTpuLayout(const Shape& shape, int generation);

// Bits that an element takes in memory: in tiles a byte, if the layout does not
// say less. Without tiles those of the type.
int ElementBits(const Shape& shape);
// Sizes of the array's dimensions, major to minor, rounded up to whole tiles.
DimVector PaddedDims(const Shape& shape);
// Bytes with padding, by the shape's own layout (no tiles: packed). Tuples:
// sum of leaves, without the pointer table.
int64_t PaddedBytes(const Shape& shape);
// The same after WithTpuLayout, for leaves without tiles.
int64_t TpuBytes(const Shape& shape, int generation);

// Position of an element in memory, in bits from the start of the array.
// Supports any number of nested tiles; not combined dimensions.
class TiledIndexer {
 public:
  // Unimplemented for tiles with "*".
  static absl::StatusOr<TiledIndexer> Create(const Shape& shape);

  int64_t BitOffset(absl::Span<const int64_t> index) const;

 private:
  // Per dimension, the list of (divide by, modulo, stride in elements).
  struct Term {
    int dim;
    int64_t divide, modulo, stride;
  };
  std::vector<Term> terms_;
  int element_bits_ = 0;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_TILED_LAYOUT_H_
