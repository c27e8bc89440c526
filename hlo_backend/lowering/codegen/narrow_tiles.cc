#include "hlo_backend/lowering/codegen/narrow_tiles.h"

namespace ptxla::codegen {
namespace {

using isa::Opcode;

}  // namespace

NarrowTiles::NarrowTiles(CodeBuilder* b, int uses) : b_(*b) {
  if (!Needed(b->model(), 16)) uses &= ~(kLoad16 | kStore16);
  if (!Needed(b->model(), 8)) uses &= ~(kLoad8 | kStore8);
  if (uses == 0) return;
  b_.NewBlock("parts of words");
  const Vec sublane = b_.BinaryImm(Opcode::kVshrl, b_.LaneSequence(), 7);
  // Shift left by bits * (last part - part), part = sublane mod parts.
  const auto shifts = [&](uint32_t last, uint32_t log2_bits) {
    const Vec part = b_.BinaryImm(Opcode::kVand, sublane, last);
    return b_.BinaryImm(Opcode::kVshll, b_.BinaryImm(Opcode::kVxor, part, last),
                        log2_bits);
  };
  if (uses & kLoad16) shifts16_ = b_.Promote(shifts(1, 4));
  if (uses & kLoad4) shifts4_ = b_.Promote(shifts(7, 2));
  if (uses & kLoad8) {
    shifts8_ = b_.Promote(shifts(3, 3));
    upper_ = b_.Promote(b_.Range(0, 128, 0, 4));
  }
  // Every second or fourth sublane.
  const auto every = [&](uint32_t last) {
    return b_.Promote(b_.CompareImm(
        Opcode::kVcmpEqS32, b_.BinaryImm(Opcode::kVand, sublane, last), 0));
  };
  if (uses & kStore16) even_ = every(1);
  if (uses & kStore8) fourth_ = every(3);
}

Vec NarrowTiles::Load(NarrowType type, int space, Sca base, int32_t offset) {
  if (type == NarrowType::kS8 || type == NarrowType::kU8 ||
      type == NarrowType::kTopByte) {
    const Vec upper = b_.LoadRow(space, base, offset);
    const Vec lower = b_.LoadRow(space, base, offset + isa::kRowBytes);
    const Vec words = b_.Select(upper_, upper, lower);
    const Vec top = b_.Binary(Opcode::kVshll, words, shifts8_);
    if (type == NarrowType::kTopByte) {
      return b_.BinaryImm(Opcode::kVand, top, 0xFF000000u);
    }
    return b_.BinaryImm(
        type == NarrowType::kS8 ? Opcode::kVshra : Opcode::kVshrl, top, 24);
  }
  if (type == NarrowType::kS4 || type == NarrowType::kU4) {
    const Vec top =
        b_.Binary(Opcode::kVshll, b_.LoadRow(space, base, offset), shifts4_);
    return b_.BinaryImm(
        type == NarrowType::kS4 ? Opcode::kVshra : Opcode::kVshrl, top, 28);
  }
  const Vec words = b_.LoadPairs(space, base, offset);
  const Vec top = b_.Binary(Opcode::kVshll, words, shifts16_);
  switch (type) {
    case NarrowType::kBf16:
      return b_.BinaryImm(Opcode::kVand, top, 0xFFFF0000u);
    case NarrowType::kS16:
      return b_.BinaryImm(Opcode::kVshra, top, 16);
    default:
      return b_.BinaryImm(Opcode::kVshrl, top, 16);
  }
}

void NarrowTiles::Store(NarrowType type, int space, Sca base, int32_t offset,
                        Vec words, int rows) {
  // The sublane `by` further down.
  const auto below = [&](Vec v, int by) {
    return b_.RotateSublanes(v, 8 - by);
  };
  if (type == NarrowType::kS8 || type == NarrowType::kU8 ||
      type == NarrowType::kTopByte) {
    const Vec byte = b_.BinaryImm(Opcode::kVand, words, 0xFF);
    const Vec two = b_.Binary(Opcode::kVor, byte,
                              b_.BinaryImm(Opcode::kVshll, below(byte, 1), 8));
    const Vec four = b_.Binary(Opcode::kVor, two,
                               b_.BinaryImm(Opcode::kVshll, below(two, 2), 16));
    Mask mask = fourth_;
    if (rows < 2) {
      mask = b_.MaskBinary(Opcode::kVmand, mask, b_.Range(0, 128, 0, 4));
    }
    // Sublane 4k goes to row k.
    b_.StoreStridedMasked(space, base, offset, isa::kRowBytes, 4, four, mask);
    return;
  }
  if (type == NarrowType::kS4 || type == NarrowType::kU4) {
    Vec part = b_.BinaryImm(Opcode::kVand, words, 0xF);
    for (const int by : {1, 2, 4}) {
      const auto shift = static_cast<uint32_t>(4 * by);
      part = b_.Binary(Opcode::kVor, part,
                       b_.BinaryImm(Opcode::kVshll, below(part, by), shift));
    }
    // The first sublane has all of them.
    b_.StoreStridedMasked(space, base, offset, isa::kRowBytes, 1, part,
                          b_.Range(0, 128, 0, 1));
    return;
  }
  Vec packed;
  if (type == NarrowType::kBf16) {
    packed = b_.Binary(Opcode::kVpackIBf16, words, below(words, 1));
  } else {
    packed = b_.Binary(Opcode::kVor, b_.BinaryImm(Opcode::kVand, words, 0xFFFF),
                       b_.BinaryImm(Opcode::kVshll, below(words, 1), 16));
  }
  Mask mask = even_;
  if (rows < 4) {
    mask = b_.MaskBinary(Opcode::kVmand, mask, b_.Range(0, 128, 0, 2 * rows));
  }
  // Sublane 2k goes to row k.
  b_.StoreStridedMasked(space, base, offset, isa::kRowBytes, 2, packed, mask);
}

}  // namespace ptxla::codegen
