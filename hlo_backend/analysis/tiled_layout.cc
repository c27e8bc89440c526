#include "hlo_backend/analysis/tiled_layout.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/units.h"

namespace ptxla::hlo {
namespace {

constexpr int kWordBits = 32;
// The largest tile of a 1-D array.
constexpr int64_t kRegisterElements = kLanes * kTileRows;

Layout BaseLayout(const Shape& shape) {
  return shape.has_layout() ? shape.layout() : Layout::RowMajor(shape.rank());
}

// Dimension sizes from major to minor.
DimVector PhysicalDims(const Shape& shape, const Layout& layout) {
  DimVector dims;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    dims.push_back(shape.dim(static_cast<int>(layout.minor_to_major[i])));
  }
  return dims;
}

// What the tiles of one type on one generation are made of.
struct TileRule {
  int64_t packing;           // elements in one 32-bit word of a lane
  int64_t min_rows;          // of a 2-D tile
  int64_t max_rows;          // where the rows fill whole tiles of this size
  int64_t min_1d;            // elements of a 1-D tile
  int64_t element_bits = 0;  // other than the type's own
};

TileRule RuleFor(const Shape& shape, int generation) {
  TileRule rule;
  int bits = std::max(1, ElementBits(shape));
  // The first generations have no type below a byte in memory; later ones
  // say so in the layout.
  if (bits < 8 && generation < 4) bits = 8;
  if (bits < 8) rule.element_bits = bits;
  rule.packing = std::max(1, kWordBits / bits);
  const int64_t words = generation < 4 ? 2 : 1;
  rule.min_rows = words * rule.packing;
  rule.max_rows = rule.packing > 2 && generation >= 4 ? kTileRows * rule.packing
                                                      : kTileRows;
  rule.min_1d = words * rule.packing * kLanes;
  return rule;
}

// Doubles from the smallest tile until it holds `rows`, up to eight; packed
// types take taller tiles where these come out even.
int64_t TileRows(int64_t rows, const TileRule& rule) {
  if (rows > 0 && rows % rule.max_rows == 0) return rule.max_rows;
  int64_t tile = rule.min_rows;
  while (tile < kTileRows && tile < rows) tile *= 2;
  return tile;
}

// Elements with padding if `minor` and `second` are the two minor dimensions.
int64_t PaddedElements(const Shape& shape, int minor, int second,
                       const TileRule& rule) {
  int64_t elements =
      RoundUpTo(shape.dim(minor), kLanes) *
      RoundUpTo(shape.dim(second), TileRows(shape.dim(second), rule));
  for (int d = 0; d < shape.rank(); ++d) {
    if (d != minor && d != second) elements *= shape.dim(d);
  }
  return elements;
}

}  // namespace

int ElementBits(const Shape& shape) {
  const int bits = BitWidth(shape.type());
  if (!shape.has_layout()) return bits;
  const Layout& layout = shape.layout();
  if (layout.element_size_in_bits > 0) {
    return static_cast<int>(layout.element_size_in_bits);
  }
  return layout.tiles.empty() ? bits : std::max(8, bits);
}

Layout TpuLayout(const Shape& shape, int generation) {
  Layout layout = BaseLayout(shape);
  layout.tiles.clear();
  if (!shape.IsArray() || shape.HasUnboundedDims()) return layout;
  const TileRule rule = RuleFor(shape, generation);
  layout.element_size_in_bits = rule.element_bits;
  if (shape.rank() >= 2) {
    const int64_t rows = shape.dim(static_cast<int>(layout.minor_to_major[1]));
    layout.tiles.push_back({{TileRows(rows, rule), kLanes}});
    if (rule.packing > 1) layout.tiles.push_back({{rule.packing, 1}});
    return layout;
  }
  const int64_t elements = shape.rank() == 0 ? 1 : shape.dim(0);
  int64_t tile = rule.min_1d;
  while (tile < kRegisterElements && tile < elements) tile *= 2;
  layout.tiles.push_back({{tile}});
  if (rule.packing > 1 && shape.rank() == 1) {
    layout.tiles.push_back({{kLanes}});
    layout.tiles.push_back({{rule.packing, 1}});
  }
  return layout;
}

Layout CompactTpuLayout(const Shape& shape, int generation) {
  const int rank = shape.rank();
  if (rank < 2 || shape.HasUnboundedDims()) {
    Shape plain = shape;
    plain.set_layout(Layout::RowMajor(rank));
    return TpuLayout(plain, generation);
  }
  const TileRule rule = RuleFor(shape, generation);
  int best_minor = rank - 1, best_second = rank - 2;
  int64_t best = PaddedElements(shape, best_minor, best_second, rule);
  for (int minor = rank - 1; minor >= 0; --minor) {
    for (int second = rank - 1; second >= 0; --second) {
      if (minor == second) continue;
      const int64_t padded = PaddedElements(shape, minor, second, rule);
      // Equal sizes: the minor dimension that is minor in row-major order.
      if (padded < best) {
        best = padded;
        best_minor = minor;
        best_second = second;
      }
    }
  }
  Layout order;
  order.minor_to_major = {best_minor, best_second};
  for (int d = rank - 1; d >= 0; --d) {
    if (d != best_minor && d != best_second) order.minor_to_major.push_back(d);
  }
  Shape ordered = shape;
  ordered.set_layout(std::move(order));
  return TpuLayout(ordered, generation);
}

Shape WithTpuLayout(const Shape& shape, int generation) {
  Shape result = shape;
  if (result.IsTuple() || result.IsBuffer()) {
    for (int i = 0; i < result.element_count_of_tuple(); ++i) {
      *result.mutable_element(i) = WithTpuLayout(result.element(i), generation);
    }
  } else if (result.IsArray()) {
    result.set_layout(TpuLayout(shape, generation));
  }
  return result;
}

DimVector PaddedDims(const Shape& shape) {
  const Layout layout = BaseLayout(shape);
  DimVector dims = PhysicalDims(shape, layout);
  if (layout.tiles.empty()) return dims;
  const Tile& tile = layout.tiles[0];
  const int tile_rank = static_cast<int>(tile.dimensions.size());
  // A tile of higher rank than the array sees leading dimensions of 1.
  while (static_cast<int>(dims.size()) < tile_rank) {
    dims.insert(dims.begin(), 1);
  }
  const int first = static_cast<int>(dims.size()) - tile_rank;
  for (int i = 0; i < tile_rank; ++i) {
    const int64_t t = tile.dimensions[i];
    if (t > 0) dims[first + i] = RoundUpTo(dims[first + i], t);
  }
  return dims;
}

int64_t PaddedBytes(const Shape& shape) {
  if (shape.IsTuple() || shape.IsBuffer()) {
    int64_t sum = 0;
    for (const Shape& s : shape.elements()) sum += PaddedBytes(s);
    return sum;
  }
  if (!shape.IsArray()) return 0;
  int64_t elements = 1;
  for (int64_t d : PaddedDims(shape)) elements *= d;
  if (shape.has_layout()) {
    elements = RoundUpTo(
        elements, std::max<int64_t>(
                      1, shape.layout().tail_padding_alignment_in_elements));
  }
  return CeilOfRatio<int64_t>(elements * ElementBits(shape), 8);
}

int64_t TpuBytes(const Shape& shape, int generation) {
  int64_t sum = 0;
  ForEachLeaf(shape, [&](const Shape& leaf, const ShapeIndex&) {
    if (leaf.IsArray() && leaf.has_layout() && !leaf.layout().tiles.empty()) {
      sum += PaddedBytes(leaf);
    } else if (leaf.IsArray()) {
      sum += PaddedBytes(WithTpuLayout(leaf, generation));
    }
  });
  return sum;
}

absl::StatusOr<TiledIndexer> TiledIndexer::Create(const Shape& shape) {
  CHECK(shape.IsArray());
  const Layout layout = BaseLayout(shape);
  for (const Tile& tile : layout.tiles) {
    for (int64_t d : tile.dimensions) {
      if (d <= 0) {
        return absl::UnimplementedError(
            absl::StrCat("the position of elements in ",
                         shape.ToStringWithLayout(), ": combined dimensions"));
      }
    }
  }
  TiledIndexer indexer;
  indexer.element_bits_ = ElementBits(shape);

  // The array as a list of digits, most significant first: each is a part of
  // one dimension's index. A tile splits the last digits in two and moves the
  // inner parts behind the outer ones.
  struct Digit {
    int dim;  // -1: a leading dimension of 1
    int64_t divide;
    int64_t size;  // how many values it takes
  };
  std::vector<Digit> digits;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    const int dim = static_cast<int>(layout.minor_to_major[i]);
    digits.push_back({dim, 1, shape.dim(dim)});
  }
  for (const Tile& tile : layout.tiles) {
    const size_t tile_rank = tile.dimensions.size();
    while (digits.size() < tile_rank) {
      digits.insert(digits.begin(), {-1, 1, 1});
    }
    const size_t first = digits.size() - tile_rank;
    std::vector<Digit> inner;
    for (size_t i = 0; i < tile_rank; ++i) {
      Digit& d = digits[first + i];
      const int64_t t = tile.dimensions[i];
      inner.push_back({d.dim, d.divide, t});
      d.divide *= t;
      d.size = CeilOfRatio(d.size, t);
    }
    digits.insert(digits.end(), inner.begin(), inner.end());
  }
  int64_t stride = 1;
  for (auto it = digits.rbegin(); it != digits.rend(); ++it) {
    if (it->dim >= 0 && it->size > 1) {
      indexer.terms_.push_back({it->dim, it->divide, it->size, stride});
    }
    stride *= it->size;
  }
  return indexer;
}

int64_t TiledIndexer::BitOffset(absl::Span<const int64_t> index) const {
  int64_t position = 0;
  for (const Term& t : terms_) {
    position += index[t.dim] / t.divide % t.modulo * t.stride;
  }
  return position * element_bits_;
}

}  // namespace ptxla::hlo
