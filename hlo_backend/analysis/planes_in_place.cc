#include "hlo_backend/analysis/planes_in_place.h"

#include "hlo_backend/analysis/tiled_layout.h"

namespace ptxla::hlo {

bool IsInPlace(const Instruction& i) {
  return (i.opcode() == Opcode::kDynamicSlice ||
          i.opcode() == Opcode::kDynamicUpdateSlice) &&
         i.backend_config() == kInPlaceConfig;
}

std::optional<std::vector<PartOfDim>> PlanesWithin(const Shape& part,
                                                   const Shape& whole) {
  if (!part.has_layout() || !whole.has_layout()) return {};
  const Layout& layout = whole.layout();
  if (layout.tiles.empty() || layout.tiles != part.layout().tiles ||
      layout.minor_to_major != part.layout().minor_to_major) {
    return {};
  }
  const int rank = whole.rank();
  const int tiled = static_cast<int>(layout.tiles[0].dimensions.size());
  const auto dim_at = [&](int p) {  // major to minor
    return static_cast<int>(layout.minor_to_major[rank - 1 - p]);
  };
  std::vector<PartOfDim> parts;
  bool is_one = true;  // of every dimension outside of the one at hand
  for (int p = 0; p < rank; ++p) {
    const int d = dim_at(p);
    if (part.dim(d) != whole.dim(d)) {
      if (!is_one || p >= rank - tiled) return {};
      parts.push_back({d, whole.dim(d) - part.dim(d), 0});
    }
    is_one = is_one && part.dim(d) == 1;
  }
  const DimVector padded = PaddedDims(whole);
  int64_t bits = ElementBits(whole);
  for (int p = rank - 1; p >= 0; --p) {
    for (PartOfDim& s : parts) {
      if (s.dim == dim_at(p)) s.stride = bits / 8;
    }
    bits *= padded[p];
  }
  return parts;
}

std::optional<std::vector<PartOfDim>> PlanesOf(const Instruction& i) {
  const bool updates = i.opcode() == Opcode::kDynamicUpdateSlice;
  return PlanesWithin(updates ? i.operand(1)->shape() : i.shape(),
                      i.operand(0)->shape());
}

Instruction* StartOfPlanes(const Instruction& i, int dim) {
  const bool updates = i.opcode() == Opcode::kDynamicUpdateSlice;
  return i.operand((updates ? 2 : 1) + dim);
}

}  // namespace ptxla::hlo
