#include "hlo_backend/lowering/fusion/narrow_bits.h"

#include "hlo_backend/lowering/fusion/elementwise_parts.h"
#include "hlo_backend/lowering/fusion/f16_conversion.h"
#include "hlo_backend/lowering/fusion/small_float_conversion.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Vec;
using hlo::PrimitiveType;
using isa::Opcode;

bool HasSequence(PrimitiveType type) {
  const int bits = hlo::BitWidth(type);
  if (type == PrimitiveType::kPred || (bits != 8 && bits != 16)) return false;
  return !hlo::IsFloat(type) || bits == 16 ||
         SmallFloatFormatOf(type).has_value();
}

// In the low bits of words; what is above them means nothing.
Vec BitsOf(CodeBuilder& b, PrimitiveType type, Vec x) {
  if (!hlo::IsFloat(type)) return x;
  if (const auto format = SmallFloatFormatOf(type)) {
    return NarrowToSmallFloat(b, *format, x);
  }
  if (type == PrimitiveType::kF16) return NarrowToF16(b, x);
  return b.Binary(Opcode::kVpackIBf16, x, x);
}

Vec ValueOf(CodeBuilder& b, PrimitiveType type, Vec bits) {
  if (!hlo::IsFloat(type)) return WrapInteger(b, type, bits);
  if (const auto format = SmallFloatFormatOf(type)) {
    return UnpackSmallFloat(b, *format,
                            WrapInteger(b, PrimitiveType::kS8, bits));
  }
  if (type == PrimitiveType::kF16) return F16InWords(b, bits);
  return b.BinaryImm(Opcode::kVshll, bits, 16);
}

}  // namespace

std::optional<Vec> EmitNarrowBits(CodeBuilder& b, PrimitiveType from,
                                  PrimitiveType to, Vec x) {
  if (!HasSequence(from) || !HasSequence(to) ||
      hlo::BitWidth(from) != hlo::BitWidth(to)) {
    return std::nullopt;
  }
  return ValueOf(b, to, BitsOf(b, from, x));
}

}  // namespace ptxla::lowering
