#include "hlo_backend/lowering/products/operand_rows.h"

#include <algorithm>

#include "base/check.h"
#include "hlo_backend/lowering/fusion/f16_conversion.h"
#include "hlo_backend/lowering/fusion/small_float_conversion.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::NarrowTiles;
using codegen::NarrowType;
using codegen::Sca;
using codegen::Vec;
using hlo::PrimitiveType;
using isa::Opcode;

int NarrowUses(std::initializer_list<PrimitiveType> types) {
  int uses = 0;
  for (const PrimitiveType type : types) {
    const int bits = hlo::BitWidth(type);
    if (bits == 16) uses |= NarrowTiles::kLoad16;
    if (bits == 8) uses |= NarrowTiles::kLoad8;
  }
  return uses;
}

constexpr Opcode kUnpackSigned[] = {Opcode::kVunpackC0S8, Opcode::kVunpackC1S8,
                                    Opcode::kVunpackC2S8, Opcode::kVunpackC3S8};
constexpr Opcode kUnpackUnsigned[] = {
    Opcode::kVunpackC0U8, Opcode::kVunpackC1U8, Opcode::kVunpackC2U8,
    Opcode::kVunpackC3U8};

// f32 values rounded to bf16, for chips without packing instructions: nearest
// even. NaN payloads may overflow to infinity, as an addition does.
Vec Rounded(CodeBuilder& b, Vec x) {
  const Vec odd =
      b.BinaryImm(Opcode::kVand, b.BinaryImm(Opcode::kVshrl, x, 16), 1);
  const Vec sum =
      b.Binary(Opcode::kVaddS32, b.BinaryImm(Opcode::kVaddS32, x, 0x7FFF), odd);
  return b.BinaryImm(Opcode::kVand, sum, 0xFFFF0000u);
}

}  // namespace

OperandRows::OperandRows(CodeBuilder* b,
                         std::initializer_list<PrimitiveType> types)
    : b_(*b), narrow_(b, NarrowUses(types)) {
  if (std::none_of(types.begin(), types.end(),
                   [](PrimitiveType t) { return hlo::BitWidth(t) == 4; })) {
    return;
  }
  b_.NewBlock("nibbles of words");
  const Vec sublane = b_.BinaryImm(Opcode::kVshrl, b_.LaneSequence(), 7);
  shifts4_ = b_.Promote(
      b_.BinaryImm(Opcode::kVshll, b_.BinaryImm(Opcode::kVxor, sublane, 7), 2));
}

Vec OperandRows::Register(const BlockPlace& place, Sca base, int64_t batch,
                          int64_t row, int64_t lane) {
  const int64_t rows = 256 / hlo::BitWidth(place.type);
  const auto offset =
      static_cast<int32_t>(place.Offset(batch, row - row % rows, lane));
  if (place.tile_rows >= rows) return b_.Load(place.space, base, offset);
  return b_.LoadStrided(place.space, base, offset,
                        static_cast<int32_t>(place.row_pitch),
                        static_cast<int>(place.tile_rows * 8 / rows));
}

Vec OperandRows::Integers(const BlockPlace& place, Sca base, int64_t batch,
                          int64_t row, int64_t lane) {
  const bool is_signed = !hlo::IsUnsigned(place.type);
  if (hlo::BitWidth(place.type) == 4) {
    const Vec words =
        b_.LoadRow(place.space, base,
                   static_cast<int32_t>(place.Offset(batch, row, lane)));
    return b_.BinaryImm(is_signed ? Opcode::kVshra : Opcode::kVshrl,
                        b_.Binary(Opcode::kVshll, words, shifts4_), 28);
  }
  if (NarrowTiles::Needed(b_.model(), 8)) {
    return narrow_.Load(is_signed ? NarrowType::kS8 : NarrowType::kU8,
                        place.space, base,
                        static_cast<int32_t>(place.Offset(batch, row, lane)));
  }
  return b_.Unary((is_signed ? kUnpackSigned : kUnpackUnsigned)[row % 32 / 8],
                  Register(place, base, batch, row, lane));
}

Vec OperandRows::MemberWords(const BlockPlace& place, Sca base, int64_t batch,
                             int64_t row, int64_t lane, int apart) {
  return b_.LoadStrided(place.space, base,
                        static_cast<int32_t>(place.Offset(batch, row, lane)),
                        static_cast<int32_t>(apart * place.row_pitch), 1);
}

std::array<Vec, 2> OperandRows::MemberRowsF32(const BlockPlace& place, Sca base,
                                              int64_t batch, int64_t row,
                                              int64_t lane) {
  std::array<Vec, 2> rows = {MemberWords(place, base, batch, row, lane, 1),
                             MemberWords(place, base, batch, row + 8, lane, 1)};
  if (place.type == PrimitiveType::kF32) return rows;
  const bool upper = place.Member(batch) % 2 == 1;
  for (Vec& words : rows) {
    words = upper ? b_.BinaryImm(Opcode::kVand, words, 0xFFFF0000u)
                  : b_.BinaryImm(Opcode::kVshll, words, 16);
  }
  return rows;
}

// A word holds two members of one row; here it takes two rows of one member.
Vec OperandRows::MemberRowsBf16(const BlockPlace& place, Sca base,
                                int64_t batch, int64_t row, int64_t lane) {
  const Vec even = MemberWords(place, base, batch, row, lane, 2);
  const Vec odd = MemberWords(place, base, batch, row + 1, lane, 2);
  const bool upper = place.Member(batch) % 2 == 1;
  const Vec low = upper ? b_.BinaryImm(Opcode::kVshrl, even, 16)
                        : b_.BinaryImm(Opcode::kVand, even, 0xFFFFu);
  const Vec high = upper ? b_.BinaryImm(Opcode::kVand, odd, 0xFFFF0000u)
                         : b_.BinaryImm(Opcode::kVshll, odd, 16);
  return b_.Binary(Opcode::kVor, low, high);
}

std::array<Vec, 2> OperandRows::F32(const BlockPlace& place, Sca base,
                                    int64_t batch, int64_t row, int64_t lane) {
  if (place.members > 0) return MemberRowsF32(place, base, batch, row, lane);
  const auto offset = static_cast<int32_t>(place.Offset(batch, row, lane));
  const auto pitch = static_cast<int32_t>(place.row_pitch);
  switch (place.type) {
    case PrimitiveType::kF32:
      return {b_.Load(place.space, base, offset),
              b_.Load(place.space, base, offset + pitch)};
    case PrimitiveType::kBf16: {
      if (NarrowTiles::Needed(b_.model())) {
        return {
            narrow_.Load(NarrowType::kBf16, place.space, base, offset),
            narrow_.Load(NarrowType::kBf16, place.space, base, offset + pitch)};
      }
      // The two tiles of 8 packed rows lie half a register each.
      const Vec packed = b_.LoadStrided(place.space, base, offset, pitch, 4);
      return {b_.Unary(Opcode::kVunpackCLBf16, packed),
              b_.Unary(Opcode::kVunpackCHBf16, packed)};
    }
    case PrimitiveType::kF16: {
      if (NarrowTiles::Needed(b_.model())) {
        const Vec upper =
            narrow_.Load(NarrowType::kBf16, place.space, base, offset);
        const Vec lower =
            narrow_.Load(NarrowType::kBf16, place.space, base, offset + pitch);
        return {WidenUpperF16(b_, upper), WidenUpperF16(b_, lower)};
      }
      const Vec packed = b_.LoadStrided(place.space, base, offset, pitch, 4);
      const Vec low = UnpackF16(b_, packed, 0);
      return {low, UnpackF16(b_, packed, 1)};
    }
    default:
      break;
  }
  std::array<Vec, 2> rows;
  const auto format = SmallFloatFormatOf(place.type);
  for (int eight = 0; eight < 2; ++eight) {
    const Vec words = Integers(place, base, batch, row + 8 * eight, lane);
    rows[eight] = format ? UnpackSmallFloat(b_, *format, words)
                         : b_.Unary(Opcode::kVcvtF32S32, words);
  }
  return rows;
}

Vec OperandRows::Rest(Vec x, int part) {
  for (int p = 1; p < part; ++p) {
    x = b_.Binary(Opcode::kVsubF32, x, Rounded(b_, x));
  }
  return x;
}

Vec OperandRows::Bf16(const BlockPlace& place, Sca base, int64_t batch,
                      int64_t row, int64_t lane, int part) {
  if (place.type == PrimitiveType::kBf16) {
    if (place.members > 0) return MemberRowsBf16(place, base, batch, row, lane);
    return b_.LoadStrided(place.space, base,
                          static_cast<int32_t>(place.Offset(batch, row, lane)),
                          static_cast<int32_t>(place.row_pitch), 4);
  }
  std::array<Vec, 2> rows = F32(place, base, batch, row, lane);
  Vec packed = b_.Binary(Opcode::kVpackCBf16, rows[0], rows[1]);
  for (int p = 0; p < part; ++p) {
    rows = {b_.Binary(Opcode::kVsubF32, rows[0],
                      b_.Unary(Opcode::kVunpackCLBf16, packed)),
            b_.Binary(Opcode::kVsubF32, rows[1],
                      b_.Unary(Opcode::kVunpackCHBf16, packed))};
    packed = b_.Binary(Opcode::kVpackCBf16, rows[0], rows[1]);
  }
  return packed;
}

Vec OperandRows::Bytes(const BlockPlace& place, Sca base, int64_t batch,
                       int64_t row, int64_t lane) {
  const Vec words = Register(place, base, batch, row, lane);
  if (hlo::BitWidth(place.type) == 8) return words;
  const Vec bytes = b_.Unary(
      row % 64 < 32 ? Opcode::kVunpackCLS4 : Opcode::kVunpackCHS4, words);
  return place.type == PrimitiveType::kU4
             ? b_.BinaryImm(Opcode::kVand, bytes, 0x0F0F0F0Fu)
             : bytes;
}

}  // namespace ptxla::lowering
