#include "hlo_backend/lowering/products/ragged_store.h"

#include "hlo_backend/lowering/products/row_mask.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

RaggedStore::RaggedStore(const BlockPlace& out, Sca low, Sca high, Sca first,
                         Into into, CodeBuilder* b)
    : out_(out), into_(into), b_(*b) {
  b->NewBlock("store");
  // All bits if old values stay.
  keep_ = b->Promote(b->Splat(b->SAddImm(first, -1)));
  if (into == Into::kSums) return;
  rows_ = b->Promote(SublaneNumbers(b));
  low_ = b->Promote(b->Splat(low));
  high_ = b->Promote(b->Splat(high));
}

void RaggedStore::Emit(int64_t batch, int64_t row, int64_t col,
                       const std::vector<Vec>& tiles) {
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
      value = b_.Select(
          b_.MaskBinary(Opcode::kVmand,
                        b_.Compare(Opcode::kVcmpGeS32, number, low_),
                        b_.Compare(Opcode::kVcmpLtS32, number, high_)),
          tiles[i], old);
    }
    b_.Store(out_.space, out_.base, offset, value);
  }
}

}  // namespace ptxla::lowering
