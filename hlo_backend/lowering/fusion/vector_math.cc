#include "hlo_backend/lowering/fusion/vector_math.h"

#include "absl/strings/str_cat.h"
#include "base/numerics/bits.h"
#include "base/status.h"
#include "hlo_backend/lowering/fusion/elementwise_parts.h"
#include "hlo_backend/lowering/fusion/small_float_conversion.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Mask;
using codegen::Vec;
using hlo::CompareDirection;
using hlo::Instruction;
using hlo::PrimitiveType;
using Hlo = hlo::Opcode;
using isa::Opcode;

constexpr uint32_t kOne = 0x3f800000u;
constexpr uint32_t kSignBit = 0x80000000u;

absl::StatusOr<Opcode> CompareOpcode(const Instruction& i) {
  const auto& attrs = i.attrs<hlo::CompareAttrs>();
  const PrimitiveType type = i.operand(0)->shape().type();
  const int direction = static_cast<int>(attrs.direction);
  // In the order of hlo::CompareDirection: eq, ne, ge, gt, le, lt.
  static constexpr Opcode kF32[] = {Opcode::kVcmpEqF32, Opcode::kVcmpNeF32,
                                    Opcode::kVcmpGeF32, Opcode::kVcmpGtF32,
                                    Opcode::kVcmpLeF32, Opcode::kVcmpLtF32};
  static constexpr Opcode kS32[] = {Opcode::kVcmpEqS32, Opcode::kVcmpNeS32,
                                    Opcode::kVcmpGeS32, Opcode::kVcmpGtS32,
                                    Opcode::kVcmpLeS32, Opcode::kVcmpLtS32};
  static constexpr Opcode kU32[] = {Opcode::kVcmpEqS32, Opcode::kVcmpNeS32,
                                    Opcode::kVcmpGeU32, Opcode::kVcmpGtU32,
                                    Opcode::kVcmpLeU32, Opcode::kVcmpLtU32};
  const bool total = attrs.type == hlo::CompareType::kTotalOrder;
  if (hlo::IsFloat(type)) return total ? kS32[direction] : kF32[direction];
  return hlo::IsSigned(type) ? kS32[direction] : kU32[direction];
}

// Pred operands as masks or as 0 / 1 words, whichever the operation wants.
Value AsNumber(CodeBuilder& b, Value v) {
  return v.is_mask() ? Value::Of(MaskToNumber(b, v.mask, false)) : v;
}

// The integer part of a number as a signed integer, saturating. Up to v4 the
// conversion cuts the fraction off; v5e and v5p do so by what they have for
// floor, v6e on by vtrunc, where the range is not known to be narrow: 1, 5 and
// 2 operations (tpu_slots.md, section 4).
Vec ToSigned(CodeBuilder& b, Vec x, bool narrow) {
  if (isa::Supports(b.model(), Opcode::kVtruncF32)) {
    if (!narrow) x = b.Unary(Opcode::kVtruncF32, x);
  } else if (isa::Supports(b.model(), Opcode::kVfloorF32)) {
    const Vec sign = b.BinaryImm(Opcode::kVand, x, kSignBit);
    x = b.Binary(
        Opcode::kVor,
        b.Unary(Opcode::kVfloorF32, b.BinaryImm(Opcode::kVand, x, ~kSignBit)),
        sign);
  }
  return b.Unary(Opcode::kVcvtS32F32, x);
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
  return b.Select(large, b.BinaryImm(Opcode::kVxor, word, kSignBit), word);
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

absl::StatusOr<Value> Convert(CodeBuilder& b, const Instruction& i, Value x,
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
    const int bits = hlo::BitWidth(to);
    if (bits >= 32) {
      return Value::Of(hlo::IsUnsigned(to) ? ToUnsigned(b, x.vec)
                                           : ToSigned(b, x.vec, false));
    }
    // Saturates at the narrow type's range.
    const int high =
        hlo::IsUnsigned(to) ? (1 << bits) - 1 : (1 << (bits - 1)) - 1;
    const int low = hlo::IsUnsigned(to) ? 0 : -(1 << (bits - 1));
    const Vec bounded =
        b.BinaryF(Opcode::kVmaxF32,
                  b.BinaryF(Opcode::kVminF32, x.vec, static_cast<float>(high)),
                  static_cast<float>(low));
    return Value::Of(ToSigned(b, bounded, true));
  }
  if (hlo::IsFloat(to)) {
    return Value::Of(FromInteger(b, from, x.vec));
  }
  return wraps ? Value::Of(WrapInteger(b, to, x.vec)) : x;
}

}  // namespace

// Of negative numbers, all bits but the sign are turned over.
Vec EmitTotalOrderKey(CodeBuilder& b, Vec x) {
  const Vec sign = b.BinaryImm(Opcode::kVshra, x, 31);
  return b.Binary(Opcode::kVxor, x, b.BinaryImm(Opcode::kVshrl, sign, 1));
}

absl::Status NoSequence(const Instruction& i, absl::string_view why) {
  return absl::UnimplementedError(
      absl::StrCat(i.name(), " (", hlo::OpcodeName(i.opcode()), " of ",
                   i.shape().ToString(), "): ", why));
}

Vec MaskToNumber(CodeBuilder& b, Mask m, bool f32) {
  return b.SelectImm(m, b.SharedImm(f32 ? kOne : 1), 0);
}

Value EmitWithImmediate(CodeBuilder& b, const Instruction& i, Value x,
                        uint32_t constant) {
  if (i.opcode() == Hlo::kDivide) return Value::Of(EmitReciprocal(b, x.vec));
  const isa::Opcode op = i.opcode() == hlo::Opcode::kAdd
                             ? isa::Opcode::kVaddF32
                             : isa::Opcode::kVmulF32;
  return Value::Of(b.BinaryImm(op, x.vec, constant));
}

absl::StatusOr<Value> EmitElementwise(CodeBuilder& b, const Instruction& i,
                                      absl::Span<const Value> in, bool wraps) {
  const PrimitiveType type = i.shape().type();
  switch (i.opcode()) {
    case Hlo::kConvert:
      return Convert(b, i, in[0], wraps);
    case Hlo::kCopy:
      return in[0];
    case Hlo::kBitcastConvert:
      if (hlo::BitWidth(type) == 32 &&
          hlo::BitWidth(i.operand(0)->shape().type()) == 32) {
        return in[0];
      }
      return NoSequence(i, "bitcast-convert of narrow types");
    case Hlo::kReducePrecision: {
      const auto& attrs = i.attrs<hlo::ReducePrecisionAttrs>();
      if (attrs.exponent_bits == 8 && attrs.mantissa_bits == 7) {
        const Vec packed = b.Binary(Opcode::kVpackIBf16, in[0].vec, in[0].vec);
        return Value::Of(isa::Supports(b.model(), Opcode::kVunpackILBf16)
                             ? b.Unary(Opcode::kVunpackILBf16, packed)
                             : b.BinaryImm(Opcode::kVshll, packed, 16));
      }
      return Value::Of(EmitReducePrecision(
          b, in[0].vec, static_cast<int>(attrs.exponent_bits),
          static_cast<int>(attrs.mantissa_bits)));
    }
    case Hlo::kSelect: {
      if (in[1].is_mask()) {
        const Mask yes = b.MaskBinary(Opcode::kVmand, in[0].mask, in[1].mask);
        const Mask no =
            b.MaskBinary(Opcode::kVmand, b.MaskNot(in[0].mask), in[2].mask);
        return Value::Of(b.MaskBinary(Opcode::kVmor, yes, no));
      }
      return Value::Of(b.Select(in[0].mask, in[1].vec, in[2].vec));
    }
    case Hlo::kClamp: {
      if (in[1].is_mask()) {
        return Value::Of(b.MaskBinary(
            Opcode::kVmand, b.MaskBinary(Opcode::kVmor, in[0].mask, in[1].mask),
            in[2].mask));
      }
      if (hlo::IsFloat(type)) {
        return Value::Of(b.Binary(
            Opcode::kVminF32, b.Binary(Opcode::kVmaxF32, in[1].vec, in[0].vec),
            in[2].vec));
      }
      return Value::Of(MinimumOf(
          b, type, MaximumOf(b, type, in[1].vec, in[0].vec), in[2].vec));
    }
    case Hlo::kCompare: {
      ASSIGN_OR_RETURN(Opcode op, CompareOpcode(i));
      Value x = AsNumber(b, in[0]), y = AsNumber(b, in[1]);
      if (hlo::IsFloat(i.operand(0)->shape().type()) &&
          i.attrs<hlo::CompareAttrs>().type == hlo::CompareType::kTotalOrder) {
        x.vec = EmitTotalOrderKey(b, x.vec);
        y.vec = EmitTotalOrderKey(b, y.vec);
      }
      return Value::Of(b.Compare(op, x.vec, y.vec));
    }
    default:
      break;
  }
  if (i.opcode() == Hlo::kIsFinite) return FloatOp(b, i, in);
  if (type == PrimitiveType::kPred) return PredOp(b, i, in);
  if (hlo::IsFloat(type)) return FloatOp(b, i, in);
  if (hlo::IsInteger(type)) return IntegerOp(b, i, in, wraps);
  return NoSequence(i, "no vector type");
}

absl::StatusOr<Value> EmitMonoid(CodeBuilder& b, Hlo op, PrimitiveType type,
                                 Value x, Value y) {
  const bool f = hlo::IsFloat(type);
  if (x.is_mask()) {
    switch (op) {
      case Hlo::kAnd:
      case Hlo::kMinimum:
      case Hlo::kMultiply:
        return Value::Of(b.MaskBinary(Opcode::kVmand, x.mask, y.mask));
      case Hlo::kXor:
        return Value::Of(b.MaskBinary(Opcode::kVmxor, x.mask, y.mask));
      default:
        return Value::Of(b.MaskBinary(Opcode::kVmor, x.mask, y.mask));
    }
  }
  Opcode code;
  switch (op) {
    case Hlo::kAdd:
      code = f ? Opcode::kVaddF32 : Opcode::kVaddS32;
      break;
    case Hlo::kMultiply:
      if (!f) return Value::Of(MultiplyIntegers(b, x.vec, y.vec));
      code = Opcode::kVmulF32;
      break;
    case Hlo::kMaximum:
      if (!f) return Value::Of(MaximumOf(b, type, x.vec, y.vec));
      code = Opcode::kVmaxF32;
      break;
    case Hlo::kMinimum:
      if (!f) return Value::Of(MinimumOf(b, type, x.vec, y.vec));
      code = Opcode::kVminF32;
      break;
    case Hlo::kAnd:
      code = Opcode::kVand;
      break;
    case Hlo::kOr:
      code = Opcode::kVor;
      break;
    case Hlo::kXor:
      code = Opcode::kVxor;
      break;
    default:
      return absl::UnimplementedError(
          absl::StrCat("reduction by ", hlo::OpcodeName(op)));
  }
  return Value::Of(b.Binary(code, x.vec, y.vec));
}

uint32_t MonoidIdentity(Hlo op, PrimitiveType type) {
  const bool f = hlo::IsFloat(type), u = hlo::IsUnsigned(type);
  const int bits = hlo::BitWidth(type);
  switch (op) {
    case Hlo::kMultiply:
      return f ? kOne : 1;
    case Hlo::kMaximum:
      if (f) return 0xff800000u;
      return u ? 0 : static_cast<uint32_t>(-(int64_t{1} << (bits - 1)));
    case Hlo::kMinimum:
      if (f) return 0x7f800000u;
      if (type == PrimitiveType::kPred) return 1;
      return static_cast<uint32_t>((int64_t{1} << (u ? bits : bits - 1)) - 1);
    case Hlo::kAnd:
      return type == PrimitiveType::kPred ? 1 : 0xffffffffu;
    default:
      return 0;
  }
}

}  // namespace ptxla::lowering
