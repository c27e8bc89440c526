#include "hlo_backend/lowering/fusion/f8_conversion.h"

#include "base/numerics/bits.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Vec;
using hlo::PrimitiveType;
using isa::Opcode;
using numerics::FloatFormat;
using numerics::SpecialValues;

constexpr uint32_t kSign = 0x80000000u;
constexpr uint32_t kInfinity = 0x7F800000u;
constexpr uint32_t kNan = 0x7FC00000u;

}  // namespace

std::optional<FloatFormat> F8FormatOf(PrimitiveType type) {
  switch (type) {
    case PrimitiveType::kF8E5M2:
      return numerics::kF8E5M2;
    case PrimitiveType::kF8E4M3:
      return numerics::kF8E4M3;
    case PrimitiveType::kF8E4M3Fn:
      return numerics::kF8E4M3Fn;
    case PrimitiveType::kF8E4M3B11Fnuz:
      return numerics::kF8E4M3B11Fnuz;
    case PrimitiveType::kF8E3M4:
      return numerics::kF8E3M4;
    case PrimitiveType::kF8E5M2Fnuz:
      return numerics::kF8E5M2Fnuz;
    case PrimitiveType::kF8E4M3Fnuz:
      return numerics::kF8E4M3Fnuz;
    default:
      return std::nullopt;
  }
}

Vec UnpackF8(CodeBuilder& b, const FloatFormat& format, Vec words) {
  const int shift = 23 - format.mantissa_bits;
  const uint32_t magnitude = 0x7Fu << shift;
  const Vec bits = b.BinaryImm(
      Opcode::kVand,
      b.BinaryImm(Opcode::kVshll, words, static_cast<uint32_t>(shift)),
      kSign | magnitude);
  const auto rebias =
      numerics::FloatFromBits(static_cast<uint32_t>(254 - format.bias) << 23);
  const Vec value = b.BinaryF(Opcode::kVmulF32, bits, rebias);
  const auto code = [&] { return b.BinaryImm(Opcode::kVand, bits, magnitude); };
  switch (format.special) {
    case SpecialValues::kNanOnly:
      return b.Select(b.CompareImm(Opcode::kVcmpEqS32, code(), magnitude),
                      b.Imm(kNan), value);
    case SpecialValues::kNanIsMinusZero:
      return b.Select(b.CompareImm(Opcode::kVcmpEqS32, bits, kSign),
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

int UnpackF8Operations(const FloatFormat& format) {
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
