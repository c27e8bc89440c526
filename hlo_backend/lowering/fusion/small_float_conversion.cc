#include "hlo_backend/lowering/fusion/small_float_conversion.h"

#include "base/numerics/bits.h"
#include "hlo_backend/ir/float_format.h"
#include "hlo_backend/lowering/codegen/word_bits.h"
#include "hlo_backend/lowering/fusion/f16_conversion.h"

namespace ptxla::lowering {
namespace {

// Of words that are no negative numbers.
codegen::Vec AtMost(codegen::CodeBuilder& b, codegen::Vec x, uint32_t bound) {
  return b.Select(b.CompareImm(isa::Opcode::kVcmpLtS32, x, bound), x,
                  b.SharedImm(bound));
}

using codegen::CodeBuilder;
using codegen::Vec;
using hlo::PrimitiveType;
using isa::Opcode;
using numerics::FloatFormat;
using numerics::SpecialValues;

constexpr uint32_t kInfinity = 0x7F800000u;
constexpr uint32_t kNan = 0x7FC00000u;

// The code without its sign.
uint32_t MagnitudeMask(const FloatFormat& format) {
  return (1u << (format.bits() - 1)) - 1;
}

}  // namespace

std::optional<FloatFormat> SmallFloatFormatOf(PrimitiveType type) {
  const int bits = hlo::BitWidth(type);
  if (!hlo::IsFloat(type) || (bits != 8 && bits != 4) ||
      type == PrimitiveType::kF8E8M0Fnu) {
    return std::nullopt;
  }
  return hlo::FloatFormatOf(type);
}

Vec UnpackSmallFloat(CodeBuilder& b, const FloatFormat& format, Vec words) {
  const int shift = 23 - format.mantissa_bits;
  const uint32_t magnitude = MagnitudeMask(format) << shift;
  const Vec bits = b.BinaryImm(
      Opcode::kVand,
      b.BinaryImm(Opcode::kVshll, words, static_cast<uint32_t>(shift)),
      codegen::kSignBit | magnitude);
  const auto rebias =
      numerics::FloatFromBits(static_cast<uint32_t>(254 - format.bias) << 23);
  const Vec value = b.BinaryF(Opcode::kVmulF32, bits, rebias);
  const auto code = [&] { return b.BinaryImm(Opcode::kVand, bits, magnitude); };
  switch (format.special) {
    case SpecialValues::kNanOnly:
      return b.Select(b.CompareImm(Opcode::kVcmpEqS32, code(), magnitude),
                      b.Imm(kNan), value);
    case SpecialValues::kNanIsMinusZero:
      return b.Select(b.CompareImm(Opcode::kVcmpEqS32, bits, codegen::kSignBit),
                      b.Imm(kNan), value);
    case SpecialValues::kIeee: {
      const uint32_t infinity = ((1u << format.exponent_bits) - 1) << 23;
      return b.Select(b.CompareImm(Opcode::kVcmpGeS32, code(), infinity),
                      b.BinaryImm(Opcode::kVor, bits, kInfinity), value);
    }
    case SpecialValues::kNone:
      return value;
  }
  return value;
}

Vec NarrowToSmallFloat(CodeBuilder& b, const FloatFormat& format, Vec x) {
  const int fraction = format.mantissa_bits, bias = format.bias;
  if (fraction == 2 && format.special == SpecialValues::kIeee) {
    return NarrowToF8E5M2(b, x);
  }
  const int dropped = 23 - fraction;
  const auto word = [](int64_t x) { return static_cast<uint32_t>(x); };
  const Vec magnitude = b.BinaryImm(Opcode::kVand, x, ~codegen::kSignBit);
  const uint32_t largest = MagnitudeMask(format);
  const Vec sign = b.BinaryImm(Opcode::kVshrl,
                               b.BinaryImm(Opcode::kVand, x, codegen::kSignBit),
                               word(32 - format.bits()));
  // The sum with this power of two has the last bit of a denormal result as its
  // own last bit.
  const uint32_t unit = word(127 + 24 - bias - fraction) << 23;
  const Vec denormal = b.BinaryImm(
      Opcode::kVsubS32, b.BinaryImm(Opcode::kVaddF32, magnitude, unit), unit);
  const Vec odd = b.BinaryImm(Opcode::kVand,
                              b.BinaryImm(Opcode::kVshrl, x, word(dropped)), 1);
  const Vec rounded = b.Binary(
      Opcode::kVaddS32,
      b.BinaryImm(Opcode::kVaddS32, magnitude,
                  word((1 << (dropped - 1)) - 1 - ((127 - bias) << 23))),
      odd);
  const Vec normal = b.BinaryImm(Opcode::kVshrl, rounded, word(dropped));
  const Vec finite = b.Select(
      b.CompareImm(Opcode::kVcmpLtS32, magnitude, word(128 - bias) << 23),
      denormal, normal);
  switch (format.special) {
    case SpecialValues::kNanOnly:
    case SpecialValues::kNone:
      return b.Binary(Opcode::kVor, AtMost(b, finite, largest), sign);
    case SpecialValues::kNanIsMinusZero: {
      const Vec value = b.SelectImm(b.CompareImm(Opcode::kVcmpNeS32, finite, 0),
                                    b.Binary(Opcode::kVor, finite, sign), 0);
      return b.SelectImm(b.CompareImm(Opcode::kVcmpLeS32, finite, largest),
                         value, largest + 1);
    }
    case SpecialValues::kIeee: {
      const uint32_t infinity = ((1u << format.exponent_bits) - 1) << fraction;
      const Vec bounded = AtMost(b, finite, infinity);
      const Vec value =
          b.SelectImm(b.CompareImm(Opcode::kVcmpLeS32, magnitude, kInfinity),
                      bounded, infinity | 1u << (fraction - 1));
      return b.Binary(Opcode::kVor, value, sign);
    }
  }
  return finite;
}

Vec RoundToSmallFloat(CodeBuilder& b, const FloatFormat& format, Vec x) {
  const Vec code = NarrowToSmallFloat(b, format, x);
  const auto above = static_cast<uint32_t>(32 - format.bits());
  return UnpackSmallFloat(
      b, format,
      b.BinaryImm(Opcode::kVshra, b.BinaryImm(Opcode::kVshll, code, above),
                  above));
}

int NarrowToSmallFloatOperations(const isa::MachineModel& model,
                                 const FloatFormat& format) {
  constexpr int kRounding = 12;
  switch (format.special) {
    case SpecialValues::kIeee:
      if (format.mantissa_bits != 2) return kRounding + 5;
      return isa::Supports(model, Opcode::kVcvtF8E5M2F32) ? 1 : 17;
    case SpecialValues::kNanIsMinusZero:
      return kRounding + 5;
    case SpecialValues::kNanOnly:
    case SpecialValues::kNone:
      break;
  }
  return kRounding + 3;
}

int UnpackSmallFloatOperations(const FloatFormat& format) {
  switch (format.special) {
    case SpecialValues::kNanOnly:
      return 6;
    case SpecialValues::kNanIsMinusZero:
      return 5;
    case SpecialValues::kIeee:
      return 7;
    case SpecialValues::kNone:
      return 3;
  }
  return 3;
}

}  // namespace ptxla::lowering
