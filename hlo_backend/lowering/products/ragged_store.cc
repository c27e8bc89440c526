#include "hlo_backend/lowering/products/ragged_store.h"

#include "hlo_backend/lowering/products/row_mask.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

RaggedStore::RaggedStore(const BlockPlace& out, Sca low, Sca high, Sca first,
                         Into into, CodeBuilder* b)
    : out_(out),
      into_(into),
      packed_(out.type == hlo::PrimitiveType::kBf16),
      b_(*b) {
  b->NewBlock("store");
  // All bits if old values stay.
  keep_ = b->Promote(b->Splat(b->SAddImm(first, -1)));
  if (into == Into::kSums) return;
  rows_ = SublaneNumbers(b);
  if (packed_) {
    // A sublane has two rows, the even one below.
    rows_ = b->BinaryImm(Opcode::kVshll, rows_, 1);
    low_of_odd_ = b->Promote(b->Splat(b->SAddImm(low, -1)));
    high_of_odd_ = b->Promote(b->Splat(b->SAddImm(high, -1)));
  }
  rows_ = b->Promote(rows_);
  low_ = b->Promote(b->Splat(low));
  high_ = b->Promote(b->Splat(high));
}

codegen::Mask RaggedStore::Within(Vec number, Vec low, Vec high) {
  return b_.MaskBinary(Opcode::kVmand,
                       b_.Compare(Opcode::kVcmpGeS32, number, low),
                       b_.Compare(Opcode::kVcmpLtS32, number, high));
}

void RaggedStore::Emit(int64_t batch, int64_t row, int64_t col,
                       const std::vector<Vec>& tiles) {
  if (packed_) {
    EmitPacked(batch, row, col,
               b_.Binary(Opcode::kVpackCBf16, tiles[0], tiles[1]));
    return;
  }
  for (size_t i = 0; i < tiles.size(); ++i) {
    const int64_t at = row + 8 * static_cast<int64_t>(i);
    const auto offset = static_cast<int32_t>(out_.Offset(batch, at, col));
    const Vec old =
        b_.Binary(Opcode::kVand, b_.Load(out_.space, out_.base, offset), keep_);
    Vec value;
    if (into_ == Into::kSums) {
      value = b_.Binary(Opcode::kVaddF32, old, tiles[i]);
    } else {
      const Vec number =
          b_.BinaryImm(Opcode::kVaddS32, rows_, static_cast<uint32_t>(at));
      value = b_.Select(Within(number, low_, high_), tiles[i], old);
    }
    b_.Store(out_.space, out_.base, offset, value);
  }
}

void RaggedStore::EmitPacked(int64_t batch, int64_t row, int64_t col,
                             Vec value) {
  const auto offset = static_cast<int32_t>(out_.Offset(batch, row, col));
  const auto pitch = static_cast<int32_t>(out_.row_pitch);
  constexpr int kHalf = isa::kSublanes / 2;
  const Vec old = b_.Binary(
      Opcode::kVand,
      b_.LoadStrided(out_.space, out_.base, offset, pitch, kHalf), keep_);
  const Vec number =
      b_.BinaryImm(Opcode::kVaddS32, rows_, static_cast<uint32_t>(row));
  const Vec group = b_.Binary(
      Opcode::kVor,
      b_.SelectImm(Within(number, low_, high_), b_.Imm(0x0000FFFF), 0),
      b_.SelectImm(Within(number, low_of_odd_, high_of_odd_),
                   b_.Imm(0xFFFF0000), 0));
  const Vec changed = b_.Binary(Opcode::kVxor, old, value);
  b_.StoreStrided(
      out_.space, out_.base, offset, pitch, kHalf,
      b_.Binary(Opcode::kVxor, old, b_.Binary(Opcode::kVand, changed, group)));
}

}  // namespace ptxla::lowering
