// How the elements of a logical array lie in memory: XLA's minor-to-major order
// with nested tiles, e.g. {1,0:T(8,128)(2,1)}.
//
// Physical dimensions are the logical ones from major to minor. The first tile
// cuts the last dimensions of them into tiles (counts rounded up) and appends
// the tile's own dimensions; each further tile cuts the last dimensions of that
// result. Elements follow in row-major order of the final dimensions.
//
// There are no 64-bit elements in a chip: an array of them is two planes, each
// as an array of 32-bit words lies; first the low halves (the first four bytes
// of each logical element), then the high ones.
//
//   TiledLayout l{{1024, 768}, {1, 0}, {{8, 128}, {2, 1}}, 16};
//   l.ByteSize()               // 1024 * 768 * 2
//   l.ElementOffset({1, 0})    // 1: rows lie in pairs
#ifndef PTXLA_ISA_TILED_LAYOUT_H_
#define PTXLA_ISA_TILED_LAYOUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace ptxla::isa {

struct TiledLayout {
  std::vector<int64_t> dims;            // logical
  std::vector<int64_t> minor_to_major;  // a permutation; empty: descending
  std::vector<std::vector<int64_t>> tiles;
  int bits = 32;  // per element: 4 (two per byte, low first), 8, 16, 32, 64

  int64_t NumElements() const;  // logical
  int64_t PaddedElements() const;
  int64_t ByteSize() const;  // with padding
  // Position of an element in memory, in elements.
  int64_t ElementOffset(absl::Span<const int64_t> index) const;

  // `logical`: dense, row major in logical order, whole bytes per element (a
  // 4-bit element takes one byte). Padding bytes become `padding`.
  std::string Pack(absl::Span<const uint8_t> logical,
                   uint8_t padding = 0) const;
  std::vector<uint8_t> Unpack(absl::Span<const uint8_t> physical) const;

  bool operator==(const TiledLayout& o) const {
    return dims == o.dims && minor_to_major == o.minor_to_major &&
           tiles == o.tiles && bits == o.bits;
  }
};

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_TILED_LAYOUT_H_
