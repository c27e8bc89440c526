#include "hlo_backend/lowering/products/operand_loader.h"

#include <algorithm>

#include "base/check.h"
#include "hlo_backend/lowering/fusion/f16_conversion.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Mask;
using codegen::Vec;
using isa::Opcode;

namespace {

constexpr uint32_t kAllBits = 0xFFFFFFFFu;
constexpr uint32_t kLowHalf = 0xFFFFu;

// All bits where the lane and the sublane are inside, else none.
Vec RangeBits(CodeBuilder* b, int lanes, int sublane_lo, int sublane_hi,
              uint32_t bits) {
  const Mask m = b->Range(0, lanes, sublane_lo, sublane_hi);
  return b->SelectImm(m, b->Imm(bits), 0);
}

void Keep(CodeBuilder* b, Vec global, Vec value) { b->Move(global, value); }

}  // namespace

OperandLoader::OperandLoader(const ArrayShape& arrays, int64_t k_extent,
                             CodeBuilder* b)
    : arrays_(arrays),
      narrow_(b, codegen::NarrowTiles::kLoad16),
      k_extent_(k_extent),
      b_(b) {
  const int lanes = static_cast<int>(k_extent % 128);
  if (lanes == 0) return;
  b->NewBlock("masks of a ragged K");
  lane_mask_ = b->GlobalVec();
  Keep(b, lane_mask_, RangeBits(b, lanes, 0, 8, kAllBits));
  const int rows = static_cast<int>(k_extent % 16);
  if (rows == 0) return;
  if (arrays.bf16) {
    // A word holds rows 2s (low half) and 2s + 1.
    row_masks_ = {b->GlobalVec()};
    Vec bits = RangeBits(b, 128, 0, rows / 2, kAllBits);
    if (rows % 2 != 0) {
      bits = b->Binary(Opcode::kVor, bits,
                       RangeBits(b, 128, rows / 2, rows / 2 + 1, kLowHalf));
    }
    Keep(b, row_masks_[0], bits);
    return;
  }
  for (int half = 0; half < 2; ++half) {
    row_masks_.push_back(b->GlobalVec());
    const int inside = std::clamp(rows - 8 * half, 0, 8);
    Keep(b, row_masks_.back(),
         inside == 0 ? b->Imm(0) : RangeBits(b, 128, 0, inside, kAllBits));
  }
}

std::vector<Vec> OperandLoader::Load(const BlockPlace& place, int64_t batch,
                                     int64_t row, int64_t lane, int64_t k,
                                     bool k_on_lanes) {
  CodeBuilder& b = *b_;
  const auto offset = static_cast<int32_t>(place.Offset(batch, row, lane));
  const auto pitch = static_cast<int32_t>(place.row_pitch);
  std::vector<Vec> regs;
  if (place.computed) {
    regs = place.computed->Tiles(batch, row, lane);
    if (arrays_.bf16) {
      regs = {b.Binary(Opcode::kVpackCBf16, regs[0], regs[1])};
    }
  } else if (place.type == hlo::PrimitiveType::kF32) {
    regs = {b.Load(place.space, place.base, offset),
            b.Load(place.space, place.base, offset + pitch)};
    if (arrays_.bf16) {
      regs = {b.Binary(Opcode::kVpackCBf16, regs[0], regs[1])};
    }
  } else if (place.type == hlo::PrimitiveType::kF16) {
    const Vec packed = b.LoadStrided(place.space, place.base, offset, pitch, 4);
    const Vec low = UnpackF16(b, packed, 0);
    regs = {b.Binary(Opcode::kVpackCBf16, low, UnpackF16(b, packed, 1))};
  } else {
    CHECK(place.type == hlo::PrimitiveType::kBf16);
    if (codegen::NarrowTiles::Needed(b.model())) {
      for (const int32_t at : {offset, offset + pitch}) {
        regs.push_back(narrow_.Load(codegen::NarrowType::kBf16, place.space,
                                    place.base, at));
      }
    } else {
      // The two tiles of 8 packed rows lie half a register each.
      regs = {b.LoadStrided(place.space, place.base, offset, pitch, 4)};
      if (!arrays_.bf16) {
        regs = {b.Unary(Opcode::kVunpackCLBf16, regs[0]),
                b.Unary(Opcode::kVunpackCHBf16, regs[0])};
      }
    }
  }
  if (k_on_lanes ? RaggedLanes(k) : RaggedRows(k)) {
    for (size_t i = 0; i < regs.size(); ++i) {
      const Vec mask = k_on_lanes ? lane_mask_ : row_masks_[i];
      regs[i] = b.Binary(Opcode::kVand, regs[i], mask);
    }
  }
  return regs;
}

}  // namespace ptxla::lowering
