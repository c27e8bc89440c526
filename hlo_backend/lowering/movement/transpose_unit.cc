#include "hlo_backend/lowering/movement/transpose_unit.h"

#include <algorithm>

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::NarrowTiles;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

}  // namespace

TransposeUnit::TransposeUnit(CodeBuilder* b, int pack)
    : b_(b),
      pack_(pack),
      narrow_(b, pack == 1 ? 0 : NarrowTiles::kLoad16 | NarrowTiles::kStore16) {
}

std::vector<Vec> TransposeUnit::Words(const TransposeSide& in, Sca f,
                                      int32_t at, int64_t in_tiles) {
  std::vector<Vec> block;
  for (int64_t k = 0; k < kTransposeBlock; ++k) {
    const auto offset = at + static_cast<int32_t>(k * in.row_stride);
    if (k >= in_tiles) {  // padding lanes of the result hold anything
      block.push_back(block[0]);
    } else if (pack_ == 1) {
      block.push_back(b_->Load(0, f, offset));
    } else {
      block.push_back(narrow_.Load(codegen::NarrowType::kBf16, 0, f, offset));
    }
  }
  return b_->Transpose(block, kTransposeBlock);
}

TransposeUnit::Halves TransposeUnit::Pair(const TransposeSide& in, Sca f,
                                          int32_t at, bool half, Opcode part,
                                          int64_t in_tiles) {
  const auto tile = [&](int64_t k) {
    const auto offset = at + static_cast<int32_t>(k * in.row_stride);
    // Nothing is read beyond the last tile of an operand in VMEM.
    const Vec v =
        half ? b_->LoadStrided(0, f, offset, 0, 4) : b_->Load(0, f, offset);
    return b_->Unary(part, v);
  };
  // Padding lanes of the result hold anything.
  const Vec first = tile(0);
  const auto existing = [&](int64_t k) {
    return k == 0 || k >= in_tiles ? first : tile(k);
  };
  std::vector<Vec> words;
  for (int64_t k = 0; k < kTransposeBlock; ++k) {
    const Vec low = existing(k);
    words.push_back(
        b_->Binary(Opcode::kVpackIBf16, low, existing(kTransposeBlock + k)));
  }
  Halves result;
  for (const Vec v : b_->Transpose(words, kTransposeBlock)) {
    result.low.push_back(b_->BinaryImm(Opcode::kVshll, v, 16));
    result.high.push_back(b_->BinaryImm(Opcode::kVand, v, 0xFFFF0000u));
  }
  return result;
}

// Blocks follow each other, with loads of their own: a packed register that is
// kept for its other half is one of few (libtpu 0.0.42.1 loads each twice too).
void TransposeUnit::Emit(const TransposeSide& in, const TransposeSide& out,
                         Sca f, Sca t, int64_t row, int64_t c, int64_t count,
                         int64_t tiles, bool exact, int64_t in_tiles) {
  CodeBuilder& b = *b_;
  const int64_t from_row = row * pack_ * kTransposeBlock * in.row_stride;
  const int64_t to_row = row * pack_ * out.tile_bytes;
  const auto to = [&](int x, int64_t k) {
    return static_cast<int32_t>(to_row + ((c + x) * kTransposeBlock + k) *
                                             out.row_stride);
  };
  const auto from = [&](int r, int64_t column) {
    return static_cast<int32_t>(from_row + r * kTransposeBlock * in.row_stride +
                                column * in.tile_bytes);
  };
  if (pack_ == 1) {
    const std::vector<Vec> block = Words(in, f, from(0, c), in_tiles);
    const int64_t exist = c + 1 < count ? kTransposeBlock : tiles;
    for (int64_t k = 0; k < exist; ++k) b.Store(1, t, to(0, k), block[k]);
    return;
  }
  const bool one = exact && out.columns % 2 != 0;
  for (int x = 0; x < pack_; ++x) {
    if (exact && c + x >= count) break;
    const int64_t exist = c + x + 1 < count ? kTransposeBlock : tiles;
    // The column beyond the operand's last is its neighbour's.
    const bool beyond = in.resident && c + x >= in.columns;
    if (NarrowTiles::Needed(b.model())) {
      for (int part = 0; part < (one ? 1 : 2); ++part) {
        const bool exists = part * kTransposeBlock < in_tiles;
        const std::vector<Vec> block =
            Words(in, f, from(exists ? part : 0, beyond ? c : c + x),
                  exists ? in_tiles - part * kTransposeBlock : 1);
        for (int64_t k = 0; k < exist; ++k) {
          narrow_.Store(codegen::NarrowType::kBf16, 1, t,
                        to(x, k) + part * static_cast<int32_t>(out.tile_bytes),
                        block[k]);
        }
      }
      continue;
    }
    const Halves halves = Pair(
        in, f, from(0, c), in.resident && c + 1 >= in.columns,
        x == 0 ? Opcode::kVunpackCLBf16 : Opcode::kVunpackCHBf16, in_tiles);
    for (int64_t k = 0; k < exist; ++k) {
      const Vec v =
          b.Binary(Opcode::kVpackCBf16, halves.low[k], halves.high[k]);
      if (one) {
        // A sublane without a mask has no address.
        b.StoreStridedMasked(1, t, to(x, k), 4 * isa::kRowBytes, 4, v,
                             b.Range(0, 128, 0, 4));
      } else {
        b.Store(1, t, to(x, k), v);
      }
    }
  }
}

}  // namespace ptxla::lowering
