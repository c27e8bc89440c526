#include "hlo_backend/lowering/products/operand_loader.h"

#include <algorithm>

#include "hlo_backend/lowering/codegen/word_bits.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Mask;
using codegen::Vec;
using isa::Opcode;

namespace {

// All bits where the lane and the sublane are inside, else none.
Vec RangeBits(CodeBuilder* b, int lanes, int sublane_lo, int sublane_hi,
              uint32_t bits) {
  const Mask m = b->Range(0, lanes, sublane_lo, sublane_hi);
  return b->SelectImm(m, b->Imm(bits), 0);
}

void Keep(CodeBuilder* b, Vec global, Vec value) { b->Move(global, value); }

}  // namespace

OperandLoader::OperandLoader(const ArrayShape& arrays, int64_t k_extent,
                             CodeBuilder* b, hlo::PrimitiveType lhs,
                             hlo::PrimitiveType rhs)
    : arrays_(arrays), rows_(b, {lhs, rhs}), k_extent_(k_extent), b_(b) {
  const int lanes = static_cast<int>(k_extent % 128);
  if (lanes == 0) return;
  b->NewBlock("masks of a ragged K");
  lane_mask_ = b->GlobalVec();
  Keep(b, lane_mask_, RangeBits(b, lanes, 0, 8, codegen::kAllBits));
  const int rows = static_cast<int>(k_extent % arrays.unit);
  if (rows == 0) return;
  if (arrays.packed()) {
    // A word holds neighbouring rows, the first in its lowest bits.
    const int per_word = arrays.unit / 8;
    const int rest = rows % per_word;
    row_masks_ = {b->GlobalVec()};
    Vec bits = RangeBits(b, 128, 0, rows / per_word, codegen::kAllBits);
    if (rest != 0) {
      bits = b->Binary(Opcode::kVor, bits,
                       RangeBits(b, 128, rows / per_word, rows / per_word + 1,
                                 (1u << (32 / per_word * rest)) - 1));
    }
    Keep(b, row_masks_[0], bits);
    return;
  }
  for (int half = 0; half < 2; ++half) {
    row_masks_.push_back(b->GlobalVec());
    const int inside = std::clamp(rows - 8 * half, 0, 8);
    Keep(b, row_masks_.back(),
         inside == 0 ? b->Imm(0)
                     : RangeBits(b, 128, 0, inside, codegen::kAllBits));
  }
}

std::vector<Vec> OperandLoader::Load(const BlockPlace& place, int64_t batch,
                                     int64_t row, int64_t lane, int64_t k,
                                     bool k_on_lanes, int part) {
  std::vector<Vec> regs;
  if (place.computed) {
    regs = place.computed->Tiles(batch, row, lane);
    if (arrays_.bf16) {
      regs = {b_->Binary(Opcode::kVpackCBf16, regs[0], regs[1])};
    }
  } else if (arrays_.unit == 32) {
    regs = {rows_.Bytes(place, place.base, batch, row, lane)};
  } else if (arrays_.bf16) {
    regs = {rows_.Bf16(place, place.base, batch, row, lane, part)};
  } else {
    for (const Vec x : rows_.F32(place, place.base, batch, row, lane)) {
      regs.push_back(rows_.Rest(x, part));
    }
  }
  if (k_on_lanes ? RaggedLanes(k) : RaggedRows(k)) {
    for (size_t i = 0; i < regs.size(); ++i) {
      const Vec mask = k_on_lanes ? lane_mask_ : row_masks_[i];
      regs[i] = b_->Binary(Opcode::kVand, regs[i], mask);
    }
  }
  return regs;
}

}  // namespace ptxla::lowering
