// How the elements of an array lie in memory, as in `{1,0:T(8,128)(2,1)S(1)}`:
// dimensions from minor to major, nested tiles, memory space.
//
// The tiles say what analysis/tiled_layout.h computes: T(8,128) splits the two
// minor dimensions into tiles of 8 x 128 that lie one after the other.
#ifndef PTXLA_HLO_BACKEND_IR_LAYOUT_H_
#define PTXLA_HLO_BACKEND_IR_LAYOUT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "hlo_backend/ir/primitive_type.h"

namespace ptxla::hlo {

using DimVector = absl::InlinedVector<int64_t, 4>;

// Memory spaces of TPU programs: the number n in S(n).
inline constexpr int kMemoryHbm = 0;
inline constexpr int kMemoryVmem = 1;
inline constexpr int kMemorySyncFlag = 2;
inline constexpr int kMemoryCmem = 3;
inline constexpr int kMemoryHost = 5;
inline constexpr int kMemorySmem = 6;

struct Tile {
  // Most major first. kCombine (printed "*") merges a dimension with the next
  // more minor one.
  static constexpr int64_t kCombine = INT64_MIN;
  absl::InlinedVector<int64_t, 2> dimensions;

  bool operator==(const Tile& o) const { return dimensions == o.dimensions; }
};

// D(...), SC(...) and P(...) of sparse and dynamic layouts: kept and printed as
// they were read, e.g. "D(D,C)". Hardly any layout has them.
struct LayoutTexts {
  std::string dim_level_types, split_configs, physical_shape;

  bool operator==(const LayoutTexts& o) const {
    return dim_level_types == o.dim_level_types &&
           split_configs == o.split_configs &&
           physical_shape == o.physical_shape;
  }
};

struct Layout {
  DimVector minor_to_major;
  absl::InlinedVector<Tile, 2> tiles;
  int64_t element_size_in_bits = 0;  // 0: that of the element type
  int memory_space = kMemoryHbm;
  int64_t tail_padding_alignment_in_elements = 1;
  int64_t dynamic_shape_metadata_prefix_bytes = 0;
  // #(...) and *(...) of sparse and dynamic layouts.
  PrimitiveType index_type = PrimitiveType::kInvalid;
  PrimitiveType pointer_type = PrimitiveType::kInvalid;

  // {rank-1, ..., 0}: row-major, without tiles.
  static Layout RowMajor(int rank);

  bool IsRowMajor() const;  // looks at the dimension order only
  bool operator==(const Layout& o) const;
  bool operator!=(const Layout& o) const { return !(*this == o); }

  const LayoutTexts& texts() const;  // empty ones if there are none
  LayoutTexts* mutable_texts();

  // "{1,0:T(8,128)S(1)}".
  std::string ToString() const;
  void AppendTo(std::string* out) const;

 private:
  // Shared by copies until one is changed.
  std::shared_ptr<LayoutTexts> texts_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_LAYOUT_H_
