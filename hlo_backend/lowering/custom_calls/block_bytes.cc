#include "hlo_backend/lowering/custom_calls/block_bytes.h"

#include <algorithm>

#include "base/units.h"
#include "hlo_backend/analysis/tiled_layout.h"

namespace ptxla::lowering {
namespace {

constexpr int64_t kWordBits = 32;

// Rows of a tile. An array of fewer has tiles of the next power of two.
int64_t TileRows(int bits, int64_t rows) {
  const int64_t whole = hlo::kTileRows * std::max<int64_t>(1, kWordBits / bits);
  int64_t n = std::max<int64_t>(1, kWordBits / bits);
  while (n < whole && n < rows) n *= 2;
  return n;
}

}  // namespace

BlockBytes BytesOfBlock(int bits, absl::Span<const int64_t> block,
                        absl::Span<const int64_t> array) {
  bits = std::max(1, bits);
  const size_t rank = block.size();
  const bool part = array.size() == rank;
  int64_t tile_rows = 1, elements = 1;
  if (rank > 1) {
    tile_rows = TileRows(bits, part ? array[rank - 2] : block[rank - 2]);
  }
  for (size_t d = 0; d < rank; ++d) {
    const int64_t unit = d + 1 == rank   ? hlo::kLanes
                         : d + 2 == rank ? tile_rows
                                         : 1;
    elements *= RoundUpTo<int64_t>(std::max<int64_t>(block[d], 1), unit);
  }
  BlockBytes b;
  b.bytes = CeilOfRatio<int64_t>(elements * bits, 8);
  b.run = b.bytes;
  if (part && rank >= 2 && block[rank - 1] < array[rank - 1]) {
    const int64_t row = RoundUpTo<int64_t>(block[rank - 1], hlo::kLanes);
    b.run = std::min(b.run, row * tile_rows * bits / 8);
  } else if (part) {
    // Whole planes of the dimensions behind the last one that is cut.
    int64_t run = b.bytes;
    size_t d = 0;
    for (; d < rank && block[d] <= 1; ++d) {
    }
    for (size_t outer = d; outer + 2 < rank; ++outer) {
      bool cut = false;
      for (size_t k = outer + 1; k < rank; ++k) cut |= block[k] < array[k];
      if (cut) run /= std::max<int64_t>(1, block[outer]);
    }
    b.run = run;
  }
  return b;
}

}  // namespace ptxla::lowering
