#include "hlo_backend/lowering/fusion/number_conversion.h"

#include "base/numerics/bits.h"
#include "hlo_backend/lowering/codegen/word_bits.h"
#include "hlo_backend/lowering/fusion/elementwise_parts.h"
#include "hlo_backend/lowering/fusion/number_facts.h"
#include "hlo_backend/lowering/fusion/small_float_conversion.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Mask;
using codegen::Vec;
using hlo::Instruction;
using hlo::PrimitiveType;
using isa::Opcode;

// The integer part of a number as a signed integer, saturating. Up to v4 the
// conversion cuts the fraction off; v5e and v5p do so by what they have for
// floor, which numbers without one (`cut_off`) need not, v6e on by vtrunc: 1,
// 5 and 2 operations (tpu_slots.md, section 4).
Vec ToSigned(CodeBuilder& b, Vec x, bool cut_off) {
  if (isa::Supports(b.model(), Opcode::kVtruncF32)) {
    x = b.Unary(Opcode::kVtruncF32, x);
  } else if (isa::Supports(b.model(), Opcode::kVfloorF32) && !cut_off) {
    const Vec sign = b.BinaryImm(Opcode::kVand, x, codegen::kSignBit);
    x = b.Binary(Opcode::kVor,
                 b.Unary(Opcode::kVfloorF32,
                         b.BinaryImm(Opcode::kVand, x, ~codegen::kSignBit)),
                 sign);
  }
  return b.Unary(Opcode::kVcvtS32F32, x);
}

// The nearest integer, ties to even. `small`: numbers below 2^22, which lose
// their fraction beside 2^23 and keep the rest.
Vec ToNearest(CodeBuilder& b, Vec x, bool small) {
  if (isa::Supports(b.model(), Opcode::kVcvtEvenS32F32)) {
    return b.Unary(Opcode::kVcvtEvenS32F32, x);
  }
  if (!small) {
    return b.Unary(Opcode::kVcvtS32F32, EmitRoundNearestEven(b, x));
  }
  const Vec beside = b.BinaryImm(
      Opcode::kVor, b.BinaryImm(Opcode::kVand, x, codegen::kSignBit),
      0x4b000000u);
  return b.Unary(Opcode::kVcvtS32F32,
                 b.Binary(Opcode::kVsubF32,
                          b.Binary(Opcode::kVaddF32, x, beside), beside));
}

// Numbers from 2^31 on lose it before the conversion and get it back.
Vec ToUnsigned(CodeBuilder& b, Vec x) {
  constexpr float kTwoTo31 = 0x1p31f;
  x = b.BinaryF(Opcode::kVmaxF32, x, 0);
  const Mask large =
      b.CompareImm(Opcode::kVcmpGeF32, x, numerics::FloatBits(kTwoTo31));
  x = b.Select(large, b.BinaryF(Opcode::kVaddF32, x, -kTwoTo31), x);
  if (isa::Supports(b.model(), Opcode::kVfloorF32)) {
    x = b.Unary(Opcode::kVfloorF32, x);
  }
  const Vec word = b.Unary(Opcode::kVcvtS32F32, x);
  return b.Select(large, b.BinaryImm(Opcode::kVxor, word, codegen::kSignBit),
                  word);
}

// Conversions take signed numbers alone: an unsigned word goes in two halves,
// whose sum rounds once.
Vec FromInteger(CodeBuilder& b, PrimitiveType from, Vec x) {
  const auto number = [&](Vec v) { return b.Unary(Opcode::kVcvtF32S32, v); };
  if (!hlo::IsUnsigned(from) || hlo::BitWidth(from) < 32) return number(x);
  const Vec upper = number(b.BinaryImm(Opcode::kVshrl, x, 16));
  const Vec lower = number(b.BinaryImm(Opcode::kVand, x, 0xFFFF));
  return b.Binary(Opcode::kVaddF32, b.BinaryF(Opcode::kVmulF32, upper, 0x1p16f),
                  lower);
}

// Saturates at the range of a narrow type, as far as `value`, which x is, may
// lie outside of it.
Vec Saturate(CodeBuilder& b, PrimitiveType to, const Instruction& value,
             Vec x) {
  const int bits = hlo::BitWidth(to);
  const int high =
      hlo::IsUnsigned(to) ? (1 << bits) - 1 : (1 << (bits - 1)) - 1;
  const int low = hlo::IsUnsigned(to) ? 0 : -(1 << (bits - 1));
  const Bounds bounds = BoundsOf(value);
  if (bounds.high > high) {
    x = b.BinaryF(Opcode::kVminF32, x, static_cast<float>(high));
  }
  if (bounds.low < low) {
    x = b.BinaryF(Opcode::kVmaxF32, x, static_cast<float>(low));
  }
  return x;
}

// A conversion from float saturates. Before v6e the TPU compiler (libtpu
// 0.0.42.1) packs signed numbers at once only where a clamp keeps them off the
// least one of their type.
bool PacksAtOnce(const isa::MachineModel& model, const Instruction& value) {
  if (!SaturatesToByte(value)) return false;
  const PrimitiveType type = value.shape().type();
  return !hlo::IsSigned(type) || isa::Supports(model, Opcode::kVtruncF32) ||
         BoundsOf(*value.operand(0)).low > -(1 << (hlo::BitWidth(type) - 1));
}

}  // namespace

Value EmitRoundingConvert(CodeBuilder& b, const Instruction& i, Value x) {
  const PrimitiveType to = i.shape().type();
  if (hlo::BitWidth(to) < 32) {
    return Value::Of(ToNearest(b, Saturate(b, to, *i.operand(0), x.vec), true));
  }
  return Value::Of(hlo::IsUnsigned(to)
                       ? ToUnsigned(b, EmitRoundNearestEven(b, x.vec))
                       : ToNearest(b, x.vec, false));
}

absl::StatusOr<Value> EmitConvert(CodeBuilder& b, const Instruction& i, Value x,
                                  bool wraps) {
  const PrimitiveType from = i.operand(0)->shape().type();
  const PrimitiveType to = i.shape().type();
  if (from == to) return x;
  if (to == PrimitiveType::kPred) {
    if (hlo::IsFloat(from)) {
      return Value::Of(b.CompareImm(Opcode::kVcmpNeF32, x.vec, 0));
    }
    return Value::Of(b.CompareImm(Opcode::kVcmpNeS32, x.vec, 0));
  }
  if (from == PrimitiveType::kPred) {
    return Value::Of(MaskToNumber(b, x.mask, hlo::IsFloat(to)));
  }
  if (const auto format = SmallFloatFormatOf(to); format.has_value() && wraps) {
    // Two bits of fraction are no noise: what reads it gets what it would find
    // in memory.
    if (!hlo::IsFloat(from)) x = Value::Of(FromInteger(b, from, x.vec));
    return Value::Of(RoundToSmallFloat(b, *format, x.vec));
  }
  if (hlo::IsFloat(from) && hlo::IsFloat(to)) return x;
  if (hlo::IsFloat(from)) {
    if (hlo::IsUnsigned(to) && hlo::BitWidth(to) >= 32) {
      return Value::Of(ToUnsigned(b, x.vec));
    }
    const Instruction& value = *i.operand(0);
    if (hlo::BitWidth(to) < 32) {
      x = Value::Of(Saturate(b, to, value, x.vec));
    }
    return Value::Of(ToSigned(b, x.vec, IsCutOff(value)));
  }
  if (hlo::IsFloat(to)) {
    return Value::Of(FromInteger(b, from, x.vec));
  }
  return wraps ? Value::Of(WrapInteger(b, to, x.vec)) : x;
}

Value EmitIota(CodeBuilder& b, const Instruction& iota, Vec positions,
               bool wraps) {
  const PrimitiveType type = iota.shape().type();
  const int64_t last = iota.shape().dim(static_cast<int>(
                           iota.attrs<hlo::IotaAttrs>().dimension)) -
                       1;
  if (!hlo::IsFloat(type)) {
    const int bits = hlo::BitWidth(type) - (hlo::IsSigned(type) ? 1 : 0);
    if (!wraps || bits >= 31 || last < int64_t{1} << bits) {
      return Value::Of(positions);
    }
    return Value::Of(WrapInteger(b, type, positions));
  }
  const Vec numbers = b.Unary(Opcode::kVcvtF32S32, positions);
  const auto format = SmallFloatFormatOf(type);
  if (!wraps || !format.has_value() ||
      last <= int64_t{2} << format->mantissa_bits) {
    return Value::Of(numbers);
  }
  return Value::Of(RoundToSmallFloat(b, *format, numbers));
}

Vec PackTileToBytes(CodeBuilder& b, const Instruction* value, Vec words) {
  if (value != nullptr && PacksAtOnce(b.model(), *value)) {
    return b.Unary(hlo::IsSigned(value->shape().type()) ? Opcode::kVpackWS8
                                                        : Opcode::kVpackWU8,
                   words);
  }
  const Vec half = b.Binary(Opcode::kVpackCB16, words, words);
  return b.Binary(Opcode::kVpackCB8, half, half);
}

}  // namespace ptxla::lowering
