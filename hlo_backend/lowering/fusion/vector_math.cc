#include "hlo_backend/lowering/fusion/vector_math.h"

#include "absl/strings/str_cat.h"
#include "base/numerics/bits.h"
#include "base/status.h"
#include "hlo_backend/lowering/fusion/elementwise_parts.h"
#include "hlo_backend/lowering/fusion/narrow_bits.h"
#include "hlo_backend/lowering/fusion/number_conversion.h"

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
  if (i.opcode() == Hlo::kPower) {
    return Value::Of(EmitPower(b, x.vec, numerics::FloatFromBits(constant)));
  }
  const bool floats = hlo::IsFloat(i.shape().type());
  Opcode op = floats ? Opcode::kVaddF32 : Opcode::kVaddS32;
  switch (i.opcode()) {
    case Hlo::kMultiply:
      op = Opcode::kVmulF32;
      break;
    case Hlo::kAnd:
      op = Opcode::kVand;
      break;
    case Hlo::kOr:
      op = Opcode::kVor;
      break;
    case Hlo::kXor:
      op = Opcode::kVxor;
      break;
    case Hlo::kShiftLeft:
      op = Opcode::kVshll;
      break;
    case Hlo::kShiftRightLogical:
      op = Opcode::kVshrl;
      break;
    case Hlo::kShiftRightArithmetic:
      op = Opcode::kVshra;
      break;
    default:
      break;
  }
  return Value::Of(b.BinaryImm(op, x.vec, constant));
}

absl::StatusOr<Value> EmitElementwise(CodeBuilder& b, const Instruction& i,
                                      absl::Span<const Value> in, bool wraps) {
  const PrimitiveType type = i.shape().type();
  switch (i.opcode()) {
    case Hlo::kConvert:
      return EmitConvert(b, i, in[0], wraps);
    case Hlo::kCopy:
      return in[0];
    case Hlo::kBitcastConvert: {
      const PrimitiveType from = i.operand(0)->shape().type();
      if (hlo::BitWidth(type) == 32 && hlo::BitWidth(from) == 32) return in[0];
      if (const auto bits = EmitNarrowBits(b, from, type, in[0].vec)) {
        return Value::Of(*bits);
      }
      return NoSequence(i, "bitcast-convert of these types");
    }
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
