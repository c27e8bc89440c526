#include "hlo_backend/lowering/movement/transpose_unit.h"

#include <utility>

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::NarrowTiles;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

constexpr int64_t kBlock = kTransposeBlock;

// Two blocks of bf16 numbers, expanded to f32, go through the transpose unit
// as the halves of words.
void TransposePair(CodeBuilder& b, const std::vector<Vec>& low,
                   const std::vector<Vec>& high,
                   std::vector<std::vector<Vec>>* results) {
  if (low.empty() || high.empty()) {
    // One of them does not exist.
    results->push_back(low.empty() ? low : b.Transpose(low, kBlock));
    results->push_back(high.empty() ? high : b.Transpose(high, kBlock));
    return;
  }
  std::vector<Vec> words;
  words.reserve(low.size());
  for (size_t k = 0; k < low.size(); ++k) {
    words.push_back(b.Binary(Opcode::kVpackIBf16, low[k], high[k]));
  }
  std::vector<Vec> lows, highs;
  for (const Vec v : b.Transpose(words, kBlock)) {
    lows.push_back(b.BinaryImm(Opcode::kVshll, v, 16));
    highs.push_back(b.BinaryImm(Opcode::kVand, v, 0xFFFF0000u));
  }
  results->push_back(std::move(lows));
  results->push_back(std::move(highs));
}

}  // namespace

TransposeUnit::TransposeUnit(CodeBuilder* b, int pack)
    : b_(b),
      pack_(pack),
      narrow_(b, pack == 1 ? 0 : NarrowTiles::kLoad16 | NarrowTiles::kStore16) {
}

void TransposeUnit::Emit(const TransposeSide& in, const TransposeSide& out,
                         Sca f, Sca t, int64_t row, int64_t c, int64_t count,
                         int64_t tiles, bool exact, int64_t in_tiles) {
  CodeBuilder& b = *b_;
  const int64_t from_row = row * pack_ * kBlock * in.row_stride;
  const int64_t to_row = row * pack_ * out.tile_bytes;
  std::vector<std::vector<Vec>> results;  // by column block, then row block
  std::vector<std::vector<Vec>> blocks(pack_ * pack_);
  // The second column of packed blocks, where it is nobody's.
  const bool pairs = pack_ == 2 && !(exact && c + 1 >= count);
  for (int r = 0; r < pack_; ++r) {
    for (int64_t k = 0; k < kBlock; ++k) {
      if (r * kBlock + k >= in_tiles) {  // padding lanes of the result
        blocks[r].push_back(blocks[0][0]);
        if (pairs) blocks[pack_ + r].push_back(blocks[pack_][0]);
        continue;
      }
      const int32_t at = static_cast<int32_t>(
          from_row + (r * kBlock + k) * in.row_stride + c * in.tile_bytes);
      if (pack_ == 2 && codegen::NarrowTiles::Needed(b.model())) {
        blocks[r].push_back(narrow_.Load(codegen::NarrowType::kBf16, 0, f, at));
        if (!pairs) continue;
        const bool last = in.resident && c + 1 >= in.columns;
        blocks[pack_ + r].push_back(
            narrow_.Load(codegen::NarrowType::kBf16, 0, f,
                         last ? at : at + static_cast<int32_t>(in.tile_bytes)));
        continue;
      }
      // Nothing is read beyond the last tile of an operand in VMEM.
      const bool half = pack_ == 2 && in.resident && c + 1 >= in.columns;
      const Vec v = half ? b.LoadStrided(0, f, at, 0, 4) : b.Load(0, f, at);
      if (pack_ == 1) {
        blocks[0].push_back(v);
      } else {
        blocks[r].push_back(b.Unary(Opcode::kVunpackCLBf16, v));
        if (pairs) {
          blocks[pack_ + r].push_back(b.Unary(Opcode::kVunpackCHBf16, v));
        }
      }
    }
  }
  if (pack_ == 2 && !codegen::NarrowTiles::Needed(b.model())) {
    for (int x = 0; x < pack_; ++x) {
      TransposePair(b, blocks[x * pack_], blocks[x * pack_ + 1], &results);
    }
  } else {
    for (auto& block : blocks) {
      results.push_back(block.empty() ? block : b.Transpose(block, kBlock));
    }
  }
  for (int x = 0; x < pack_; ++x) {
    if (exact && c + x >= count) break;
    const int64_t exist = c + x + 1 < count ? kBlock : tiles;
    for (int64_t k = 0; k < exist; ++k) {
      Vec v = results[x * pack_][k];
      const int32_t at = static_cast<int32_t>(to_row + ((c + x) * kBlock + k) *
                                                           out.row_stride);
      if (pack_ == 2 && codegen::NarrowTiles::Needed(b.model())) {
        const bool one = exact && out.columns % 2 != 0;
        for (int part = 0; part < (one ? 1 : 2); ++part) {
          narrow_.Store(codegen::NarrowType::kBf16, 1, t,
                        at + part * static_cast<int32_t>(out.tile_bytes),
                        results[x * pack_ + part][k]);
        }
        continue;
      }
      if (pack_ == 2) {
        v = b.Binary(Opcode::kVpackCBf16, v, results[x * pack_ + 1][k]);
      }
      if (pack_ == 2 && exact && out.columns % 2 != 0) {
        // A sublane without a mask has no address.
        b.StoreStridedMasked(1, t, at, 4 * isa::kRowBytes, 4, v,
                             b.Range(0, 128, 0, 4));
      } else {
        b.Store(1, t, at, v);
      }
    }
  }
}

}  // namespace ptxla::lowering
