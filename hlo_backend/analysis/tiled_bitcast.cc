#include "hlo_backend/analysis/tiled_bitcast.h"

#include "hlo_backend/analysis/tiled_layout.h"

namespace ptxla::hlo {
namespace {

// Beyond this many elements only the rules below are tried.
constexpr int64_t kMostElementsCompared = 4096;

void Advance(const Shape& shape, DimVector* index) {
  for (int d = shape.rank(); d-- > 0;) {
    if (++(*index)[d] < shape.dim(d)) return;
    (*index)[d] = 0;
  }
}

bool SameOffsets(const Shape& from, const Shape& to) {
  auto a = TiledIndexer::Create(from);
  auto b = TiledIndexer::Create(to);
  if (!a.ok() || !b.ok()) return false;
  DimVector x(from.rank(), 0), y(to.rank(), 0);
  for (int64_t e = 0; e < from.ElementCount(); ++e) {
    if (a->BitOffset(x) != b->BitOffset(y)) return false;
    Advance(from, &x);
    Advance(to, &y);
  }
  return true;
}

// The array with the major dimensions cut off that neither tile reaches: what
// is left repeats.
bool SameRows(const Shape& from, const Shape& to) {
  if (from.rank() < 2 || to.rank() < 2) return false;
  const Layout &a = from.layout(), &b = to.layout();
  if (!a.IsRowMajor() || !b.IsRowMajor() || !(a.tiles == b.tiles)) {
    return false;
  }
  const int64_t minor = from.dim(from.rank() - 1);
  if (minor != to.dim(to.rank() - 1)) return false;
  const int64_t rows_a = from.dim(from.rank() - 2);
  const int64_t rows_b = to.dim(to.rank() - 2);
  if (rows_a == rows_b) return true;
  if (a.tiles.empty()) return true;
  if (a.tiles[0].dimensions.size() != 2) return false;
  const int64_t tile_rows = a.tiles[0].dimensions[0];
  return rows_a % tile_rows == 0 && rows_b % tile_rows == 0;
}

// Rows that one tile holds in its lanes follow one another, however high the
// tiles are, if planes are whole tiles. Packed rows, pairs in a word, if tiles
// are whole words on both sides.
bool SameShortRows(const Shape& from, const Shape& to) {
  const auto packed = [](const Shape& s) -> int64_t {
    const auto& tiles = s.layout().tiles;
    if (tiles.size() == 1) return 1;
    const bool in_words = tiles.size() == 2 &&
                          tiles[1].dimensions.size() == 2 &&
                          tiles[1].dimensions[1] == 1 &&
                          tiles[0].dimensions[0] % tiles[1].dimensions[0] == 0;
    return in_words ? tiles[1].dimensions[0] : 0;
  };
  const auto follow = [&](const Shape& s) {
    if (s.rank() < 2 || !s.layout().IsRowMajor() || s.layout().tiles.empty() ||
        s.layout().tiles[0].dimensions.size() != 2 || packed(s) == 0) {
      return false;
    }
    const auto& tile = s.layout().tiles[0].dimensions;
    const int64_t lanes = s.dim(s.rank() - 1), rows = s.dim(s.rank() - 2);
    return lanes <= tile[1] &&
           (rows % tile[0] == 0 || s.ElementCount() == rows * lanes);
  };
  return follow(from) && follow(to) && packed(from) == packed(to) &&
         from.dim(from.rank() - 1) == to.dim(to.rank() - 1) &&
         from.layout().tiles[0].dimensions[1] ==
             to.layout().tiles[0].dimensions[1];
}

// One dimension in whole tiles of 1024 against rows of 128.
bool IsRowsOf128(const Shape& line, const Shape& rows) {
  if (line.rank() != 1 || rows.rank() < 2) return false;
  if (!rows.layout().IsRowMajor() || line.layout().tiles.empty() ||
      rows.layout().tiles.empty()) {
    return false;
  }
  const Tile& tile = rows.layout().tiles[0];
  return rows.dim(rows.rank() - 1) == 128 && line.dim(0) % 1024 == 0 &&
         line.layout().tiles[0].dimensions.size() == 1 &&
         line.layout().tiles[0].dimensions[0] == 1024 &&
         tile.dimensions.size() == 2 && tile.dimensions[0] == 8 &&
         tile.dimensions[1] == 128 && rows.dim(rows.rank() - 2) % 8 == 0;
}

// Words that follow one another: one dimension in a line, or one row in tiles
// one row high.
bool IsLine(const Shape& s) {
  if (s.rank() < 1 || BitWidth(s.type()) != 32 || !s.layout().IsRowMajor() ||
      s.ElementCount() != s.dim(s.rank() - 1) || s.layout().tiles.size() != 1) {
    return false;
  }
  const auto& tile = s.layout().tiles[0].dimensions;
  return tile.size() == 1 || (tile.size() == 2 && tile[0] == 1);
}

}  // namespace

bool IsTiledBitcast(const Shape& from, const Shape& to) {
  if (from.ElementCount() != to.ElementCount() ||
      BitWidth(from.type()) != BitWidth(to.type()) || !from.has_layout() ||
      !to.has_layout()) {
    return false;
  }
  if (PaddedBytes(to) > PaddedBytes(from)) return false;
  if (SameRows(from, to) || SameShortRows(from, to) || IsRowsOf128(from, to) ||
      IsRowsOf128(to, from) || (IsLine(from) && IsLine(to))) {
    return true;
  }
  return from.ElementCount() <= kMostElementsCompared && SameOffsets(from, to);
}

}  // namespace ptxla::hlo
