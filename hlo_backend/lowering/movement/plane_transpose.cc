#include "hlo_backend/lowering/movement/plane_transpose.h"

#include <algorithm>
#include <utility>

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::NarrowTiles;
using codegen::NarrowType;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

PlaneTranspose::PlaneTranspose(CodeBuilder* b, int pack,
                               const TransposeSide& in,
                               const TransposeSide& out)
    : b_(*b),
      pack_(pack),
      narrow_types_(pack == 2 && NarrowTiles::Needed(b->model())),
      in_(in),
      out_(out),
      narrow_(b, pack == 1 ? 0 : NarrowTiles::kLoad16 | NarrowTiles::kStore16) {
}

void PlaneTranspose::Emit(Sca f, Sca t, int64_t count) {
  for (int64_t p = 0; p < count; ++p) {
    if (pack_ == 1 || p + 1 == count) {
      Store(t, p, Transposed(Load(f, p)));
      continue;
    }
    const auto [low, high] = LoadTwo(f, p);
    Tiles words;
    words.reserve(low.size());
    for (size_t k = 0; k < low.size(); ++k) {
      words.push_back(narrow_types_
                          ? b_.Binary(Opcode::kVor, high[k],
                                      b_.BinaryImm(Opcode::kVshrl, low[k], 16))
                          : b_.Binary(Opcode::kVpackIBf16, low[k], high[k]));
    }
    Tiles lows, highs;
    for (const Vec v : Transposed(words)) {
      lows.push_back(b_.BinaryImm(Opcode::kVshll, v, 16));
      highs.push_back(b_.BinaryImm(Opcode::kVand, v, 0xFFFF0000u));
    }
    if (IsDense(out_)) {
      lows.insert(lows.end(), highs.begin(), highs.end());
      Store(t, p++, lows);
      continue;
    }
    Store(t, p++, lows);
    Store(t, p, highs);
  }
}

bool PlaneTranspose::IsDense(const TransposeSide& side) {
  return side.plane_bytes == side.rows * side.columns * side.tile_bytes;
}

std::pair<PlaneTranspose::Tiles, PlaneTranspose::Tiles> PlaneTranspose::LoadTwo(
    Sca f, int64_t plane) {
  if (!IsDense(in_)) return {Load(f, plane), Load(f, plane + 1)};
  Tiles low = Load(f, plane, 2);
  const auto middle = low.begin() + static_cast<int64_t>(low.size()) / 2;
  Tiles high(middle, low.end());
  low.erase(middle, low.end());
  return {std::move(low), std::move(high)};
}

PlaneTranspose::Tiles PlaneTranspose::Load(Sca f, int64_t plane,
                                           int64_t planes) {
  Tiles tiles;
  const int64_t n = planes * in_.rows * in_.columns;
  const int64_t first = plane * in_.plane_bytes;
  for (int64_t k = 0; k < n; k += narrow_types_ ? 1 : pack_) {
    const auto at = static_cast<int32_t>(first + k * in_.tile_bytes);
    if (pack_ == 1) {
      tiles.push_back(b_.Load(0, f, at));
    } else if (narrow_types_) {
      tiles.push_back(narrow_.Load(NarrowType::kBf16, 0, f, at));
    } else if (k + 1 < n) {
      const Vec v = b_.Load(0, f, at);
      tiles.push_back(b_.Unary(Opcode::kVunpackCLBf16, v));
      tiles.push_back(b_.Unary(Opcode::kVunpackCHBf16, v));
    } else {
      tiles.push_back(
          b_.Unary(Opcode::kVunpackCLBf16, b_.LoadStrided(0, f, at, 0, 4)));
    }
  }
  return tiles;
}

PlaneTranspose::Tiles PlaneTranspose::Transposed(const Tiles& tiles) {
  Tiles result(out_.rows * out_.columns);
  for (int64_t r = 0; r < in_.rows; r += kTransposeBlock) {
    const int64_t rows = std::min(kTransposeBlock, in_.rows - r);
    for (int64_t c = 0; c < in_.columns; ++c) {
      Tiles block;
      for (int64_t k = 0; k < rows; ++k) {
        block.push_back(tiles[(r + k) * in_.columns + c]);
      }
      const int64_t first = c * kTransposeBlock;
      const int64_t some = std::min(kTransposeBlock, out_.rows - first);
      const Tiles turned = b_.Transpose(block, static_cast<int>(some));
      for (int64_t k = 0; k < some; ++k) {
        result[(first + k) * out_.columns + r / kTransposeBlock] = turned[k];
      }
    }
  }
  return result;
}

void PlaneTranspose::Store(Sca t, int64_t plane, const Tiles& tiles) {
  const auto n = static_cast<int64_t>(tiles.size());
  const int64_t first = plane * out_.plane_bytes;
  for (int64_t k = 0; k < n; k += narrow_types_ ? 1 : pack_) {
    const auto at = static_cast<int32_t>(first + k * out_.tile_bytes);
    if (pack_ == 1) {
      b_.Store(1, t, at, tiles[k]);
    } else if (narrow_types_) {
      narrow_.Store(NarrowType::kBf16, 1, t, at, tiles[k]);
    } else if (k + 1 < n) {
      b_.Store(1, t, at,
               b_.Binary(Opcode::kVpackCBf16, tiles[k], tiles[k + 1]));
    } else {
      // A sublane without a mask has no address.
      b_.StoreStridedMasked(1, t, at, 4 * isa::kRowBytes, 4,
                            b_.Binary(Opcode::kVpackCBf16, tiles[k], tiles[k]),
                            b_.Range(0, isa::kLanes, 0, 4));
    }
  }
}

}  // namespace ptxla::lowering
