#include "hlo_backend/lowering/fusion/vector_math.h"

#include "absl/strings/str_cat.h"
#include "base/numerics/bits.h"
#include "base/status.h"

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

constexpr uint32_t kSignBit = 0x80000000u;
constexpr uint32_t kAbsMask = 0x7fffffffu;
constexpr uint32_t kOne = 0x3f800000u;

absl::Status Unsupported(const Instruction& i, absl::string_view why) {
  return absl::UnimplementedError(
      absl::StrCat(i.name(), " (", hlo::OpcodeName(i.opcode()), " of ",
                   i.shape().ToString(), "): ", why));
}

// Arithmetic on narrow integers wraps at their width.
Vec WrapInteger(CodeBuilder& b, PrimitiveType type, Vec x) {
  const int bits = hlo::BitWidth(type);
  if (bits >= 32 || !hlo::IsInteger(type)) return x;
  const uint32_t shift = 32 - bits;
  if (hlo::IsUnsigned(type)) {
    return b.BinaryImm(Opcode::kVand, x, (1u << bits) - 1);
  }
  return b.BinaryImm(Opcode::kVshra, b.BinaryImm(Opcode::kVshll, x, shift),
                     shift);
}

absl::StatusOr<Opcode> CompareOpcode(const Instruction& i) {
  const auto& attrs = i.attrs<hlo::CompareAttrs>();
  const PrimitiveType type = i.operand(0)->shape().type();
  if (attrs.type == hlo::CompareType::kTotalOrder) {
    return Unsupported(i, "total order");
  }
  const int direction = static_cast<int>(attrs.direction);
  // In the order of hlo::CompareDirection: eq, ne, ge, gt, le, lt.
  static constexpr Opcode kF32[] = {Opcode::kVcmpEqF32, Opcode::kVcmpNeF32,
                                    Opcode::kVcmpGeF32, Opcode::kVcmpGtF32,
                                    Opcode::kVcmpLeF32, Opcode::kVcmpLtF32};
  static constexpr Opcode kS32[] = {Opcode::kVcmpEqS32, Opcode::kVcmpNeS32,
                                    Opcode::kVcmpGeS32, Opcode::kVcmpGtS32,
                                    Opcode::kVcmpLeS32, Opcode::kVcmpLtS32};
  static constexpr Opcode kU32[] = {Opcode::kVcmpEqU32, Opcode::kVcmpNeU32,
                                    Opcode::kVcmpGeU32, Opcode::kVcmpGtU32,
                                    Opcode::kVcmpLeU32, Opcode::kVcmpLtU32};
  if (hlo::IsFloat(type)) return kF32[direction];
  return hlo::IsSigned(type) ? kS32[direction] : kU32[direction];
}

// Pred operands as masks or as 0 / 1 words, whichever the operation wants.
Value AsNumber(CodeBuilder& b, Value v) {
  return v.is_mask() ? Value::Of(MaskToNumber(b, v.mask, false)) : v;
}

absl::StatusOr<Value> Convert(CodeBuilder& b, const Instruction& i, Value x) {
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
  if (hlo::IsFloat(from) && hlo::IsFloat(to)) return x;
  if (hlo::IsFloat(from)) {
    const Vec v = b.Unary(hlo::IsUnsigned(to) && hlo::BitWidth(to) == 32
                              ? Opcode::kVcvtU32F32
                              : Opcode::kVcvtS32F32,
                          x.vec);
    const int bits = hlo::BitWidth(to);
    if (bits >= 32) return Value::Of(v);
    // Saturates at the narrow type's range.
    const int32_t high =
        hlo::IsUnsigned(to) ? (1 << bits) - 1 : (1 << (bits - 1)) - 1;
    const int32_t low = hlo::IsUnsigned(to) ? 0 : -(1 << (bits - 1));
    return Value::Of(b.BinaryImm(
        Opcode::kVmaxS32,
        b.BinaryImm(Opcode::kVminS32, v, static_cast<uint32_t>(high)),
        static_cast<uint32_t>(low)));
  }
  if (hlo::IsFloat(to)) {
    return Value::Of(b.Unary(hlo::IsUnsigned(from) && hlo::BitWidth(from) == 32
                                 ? Opcode::kVcvtF32U32
                                 : Opcode::kVcvtF32S32,
                             x.vec));
  }
  return Value::Of(WrapInteger(b, to, x.vec));
}

Vec SignF32(CodeBuilder& b, Vec x) {
  const Vec one = b.Binary(Opcode::kVor, b.ImmF(1.0f),
                           b.BinaryImm(Opcode::kVand, x, kSignBit));
  // Zeros and NaN are their own signs.
  const Mask nonzero = b.CompareImm(Opcode::kVcmpGtF32,
                                    b.BinaryImm(Opcode::kVand, x, kAbsMask), 0);
  return b.Select(nonzero, one, x);
}

absl::StatusOr<Value> FloatOp(CodeBuilder& b, const Instruction& i,
                              absl::Span<const Value> in) {
  const Vec x = in[0].vec;
  const Vec y = in.size() > 1 ? in[1].vec : Vec();
  const auto vec = [](Vec v) { return Value::Of(v); };
  switch (i.opcode()) {
    case Hlo::kAbs:
      return vec(b.BinaryImm(Opcode::kVand, x, kAbsMask));
    case Hlo::kNegate:
      return vec(b.BinaryImm(Opcode::kVxor, x, kSignBit));
    case Hlo::kAdd:
      return vec(b.Binary(Opcode::kVaddF32, x, y));
    case Hlo::kSubtract:
      return vec(b.Binary(Opcode::kVsubF32, x, y));
    case Hlo::kMultiply:
      return vec(b.Binary(Opcode::kVmulF32, x, y));
    case Hlo::kMaximum:
      return vec(b.Binary(Opcode::kVmaxF32, x, y));
    case Hlo::kMinimum:
      return vec(b.Binary(Opcode::kVminF32, x, y));
    case Hlo::kDivide:
      return vec(b.Binary(Opcode::kVmulF32, x, EmitReciprocal(b, y)));
    case Hlo::kExp:
      return vec(EmitExp(b, x));
    case Hlo::kExpm1:
      return vec(EmitExpm1(b, x));
    case Hlo::kLog:
      return vec(EmitLog(b, x));
    case Hlo::kLog1p:
      return vec(EmitLog1p(b, x));
    case Hlo::kTanh:
      return vec(b.Eup(Opcode::kVtanhF32, x));
    case Hlo::kLogistic:
      return vec(EmitLogistic(b, x));
    case Hlo::kErf:
      return vec(EmitErf(b, x));
    case Hlo::kRsqrt:
      return vec(EmitRsqrt(b, x));
    case Hlo::kSqrt:
      return vec(EmitSqrt(b, x));
    case Hlo::kPower:
      return vec(EmitPower(b, x, y));
    case Hlo::kSign:
      return vec(SignF32(b, x));
    case Hlo::kFloor:
      return vec(EmitFloor(b, x));
    case Hlo::kCeil:
      return vec(b.BinaryImm(
          Opcode::kVxor, EmitFloor(b, b.BinaryImm(Opcode::kVxor, x, kSignBit)),
          kSignBit));
    case Hlo::kSin:
      return vec(EmitSine(b, x));
    case Hlo::kCos:
      return vec(EmitCosine(b, x));
    case Hlo::kCbrt:
      return vec(EmitCbrt(b, x));
    case Hlo::kRoundNearestEven:
      if (isa::Supports(b.model(), Opcode::kVroundF32)) {
        return vec(b.Unary(Opcode::kVroundF32, x));
      }
      break;
    case Hlo::kIsFinite:
      return Value::Of(b.CompareImm(Opcode::kVcmpLtS32,
                                    b.BinaryImm(Opcode::kVand, x, kAbsMask),
                                    0x7f800000u));
    default:
      break;
  }
  return Unsupported(i, "no vector sequence");
}

absl::StatusOr<Vec> MultiplyIntegers(CodeBuilder& b, const Instruction& i,
                                     Vec x, Vec y) {
  if (isa::Supports(b.model(), Opcode::kVmulU32)) {
    return b.Binary(Opcode::kVmulU32, x, y);
  }
  if (!isa::Supports(b.model(), Opcode::kVmulU16)) {
    return Unsupported(i, "the chip has no integer multiply");
  }
  // Schoolbook on 16-bit halves: high x low + low x high, shifted.
  const Vec xh = b.BinaryImm(Opcode::kVshrl, x, 16);
  const Vec yh = b.BinaryImm(Opcode::kVshrl, y, 16);
  const Vec cross =
      b.Binary(Opcode::kVaddS32, b.Binary(Opcode::kVmulU16, xh, y),
               b.Binary(Opcode::kVmulU16, x, yh));
  return b.Binary(Opcode::kVaddS32, b.Binary(Opcode::kVmulU16, x, y),
                  b.BinaryImm(Opcode::kVshll, cross, 16));
}

absl::StatusOr<Value> IntegerOp(CodeBuilder& b, const Instruction& i,
                                absl::Span<const Value> in) {
  const PrimitiveType type = i.shape().type();
  const bool is_unsigned = hlo::IsUnsigned(type);
  const Vec x = in[0].vec;
  const Vec y = in.size() > 1 ? in[1].vec : Vec();
  const auto wrapped = [&](Vec v) {
    return Value::Of(WrapInteger(b, type, v));
  };
  const auto binary = [&](Opcode op) { return Value::Of(b.Binary(op, x, y)); };
  switch (i.opcode()) {
    case Hlo::kAdd:
      return wrapped(b.Binary(Opcode::kVaddS32, x, y));
    case Hlo::kSubtract:
      return wrapped(b.Binary(Opcode::kVsubS32, x, y));
    case Hlo::kMultiply: {
      ASSIGN_OR_RETURN(Vec v, MultiplyIntegers(b, i, x, y));
      return wrapped(v);
    }
    case Hlo::kMaximum:
      return binary(is_unsigned ? Opcode::kVmaxU32 : Opcode::kVmaxS32);
    case Hlo::kMinimum:
      return binary(is_unsigned ? Opcode::kVminU32 : Opcode::kVminS32);
    case Hlo::kAnd:
      return binary(Opcode::kVand);
    case Hlo::kOr:
      return binary(Opcode::kVor);
    case Hlo::kXor:
      return binary(Opcode::kVxor);
    case Hlo::kNot:
      return wrapped(b.Unary(Opcode::kVnot, x));
    case Hlo::kNegate:
      return wrapped(b.Binary(Opcode::kVsubS32, b.Imm(0), x));
    case Hlo::kAbs:
      if (is_unsigned) return in[0];
      return wrapped(b.Binary(Opcode::kVmaxS32, x,
                              b.Binary(Opcode::kVsubS32, b.Imm(0), x)));
    case Hlo::kSign:
      return Value::Of(b.BinaryImm(
          Opcode::kVminS32, b.BinaryImm(Opcode::kVmaxS32, x, 0xffffffffu), 1));
    case Hlo::kShiftLeft:
      return wrapped(b.Binary(Opcode::kVshll, x, y));
    case Hlo::kShiftRightArithmetic:
      return binary(Opcode::kVshra);
    case Hlo::kShiftRightLogical: {
      const int bits = hlo::BitWidth(type);
      if (bits == 32 || is_unsigned) return binary(Opcode::kVshrl);
      const Vec low = b.BinaryImm(Opcode::kVand, x, (1u << bits) - 1);
      return wrapped(b.Binary(Opcode::kVshrl, low, y));
    }
    case Hlo::kClz: {
      const int bits = hlo::BitWidth(type);
      const Vec low =
          bits == 32 ? x : b.BinaryImm(Opcode::kVand, x, (1u << bits) - 1);
      const Vec n = b.Unary(Opcode::kVclz, low);
      return Value::Of(
          bits == 32 ? n : b.BinaryImm(Opcode::kVsubS32, n, 32u - bits));
    }
    case Hlo::kPopulationCount: {
      const int bits = hlo::BitWidth(type);
      return Value::Of(b.Unary(
          Opcode::kVpcnt,
          bits == 32 ? x : b.BinaryImm(Opcode::kVand, x, (1u << bits) - 1)));
    }
    default:
      break;
  }
  return Unsupported(i, "no vector sequence");
}

absl::StatusOr<Value> PredOp(CodeBuilder& b, const Instruction& i,
                             absl::Span<const Value> in) {
  switch (i.opcode()) {
    case Hlo::kAnd:
    case Hlo::kMultiply:
    case Hlo::kMinimum:
      return Value::Of(b.MaskBinary(Opcode::kVmand, in[0].mask, in[1].mask));
    case Hlo::kOr:
    case Hlo::kMaximum:
    case Hlo::kAdd:
      return Value::Of(b.MaskBinary(Opcode::kVmor, in[0].mask, in[1].mask));
    case Hlo::kXor:
      return Value::Of(b.MaskBinary(Opcode::kVmxor, in[0].mask, in[1].mask));
    case Hlo::kNot:
      return Value::Of(b.MaskNot(in[0].mask));
    default:
      return Unsupported(i, "no mask sequence");
  }
}

}  // namespace

Vec MaskToNumber(CodeBuilder& b, Mask m, bool f32) {
  return b.SelectImm(m, b.Imm(f32 ? kOne : 1), 0);
}

absl::StatusOr<Value> EmitElementwise(CodeBuilder& b, const Instruction& i,
                                      absl::Span<const Value> in) {
  const PrimitiveType type = i.shape().type();
  switch (i.opcode()) {
    case Hlo::kConvert:
      return Convert(b, i, in[0]);
    case Hlo::kCopy:
      return in[0];
    case Hlo::kBitcastConvert:
      if (hlo::BitWidth(type) == 32 &&
          hlo::BitWidth(i.operand(0)->shape().type()) == 32) {
        return in[0];
      }
      return Unsupported(i, "bitcast-convert of narrow types");
    case Hlo::kReducePrecision: {
      const auto& attrs = i.attrs<hlo::ReducePrecisionAttrs>();
      if (attrs.exponent_bits == 8 && attrs.mantissa_bits == 7) {
        const Vec packed = b.Binary(Opcode::kVpackIBf16, in[0].vec, in[0].vec);
        return Value::Of(isa::Supports(b.model(), Opcode::kVunpackILBf16)
                             ? b.Unary(Opcode::kVunpackILBf16, packed)
                             : b.BinaryImm(Opcode::kVshll, packed, 16));
      }
      return Unsupported(i, "only to bf16");
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
      if (in[1].is_mask()) return Unsupported(i, "clamp of pred");
      Opcode max = Opcode::kVmaxF32, min = Opcode::kVminF32;
      if (!hlo::IsFloat(type)) {
        const bool u = hlo::IsUnsigned(type);
        max = u ? Opcode::kVmaxU32 : Opcode::kVmaxS32;
        min = u ? Opcode::kVminU32 : Opcode::kVminS32;
      }
      return Value::Of(
          b.Binary(min, b.Binary(max, in[1].vec, in[0].vec), in[2].vec));
    }
    case Hlo::kCompare: {
      ASSIGN_OR_RETURN(Opcode op, CompareOpcode(i));
      const Value x = AsNumber(b, in[0]), y = AsNumber(b, in[1]);
      return Value::Of(b.Compare(op, x.vec, y.vec));
    }
    default:
      break;
  }
  if (i.opcode() == Hlo::kIsFinite) return FloatOp(b, i, in);
  if (type == PrimitiveType::kPred) return PredOp(b, i, in);
  if (hlo::IsFloat(type)) return FloatOp(b, i, in);
  if (hlo::IsInteger(type)) return IntegerOp(b, i, in);
  return Unsupported(i, "no vector type");
}

absl::StatusOr<Value> EmitMonoid(CodeBuilder& b, Hlo op, PrimitiveType type,
                                 Value x, Value y) {
  const bool f = hlo::IsFloat(type), u = hlo::IsUnsigned(type);
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
      code = f ? Opcode::kVmulF32 : Opcode::kVmulU32;
      break;
    case Hlo::kMaximum:
      code = f ? Opcode::kVmaxF32 : u ? Opcode::kVmaxU32 : Opcode::kVmaxS32;
      break;
    case Hlo::kMinimum:
      code = f ? Opcode::kVminF32 : u ? Opcode::kVminU32 : Opcode::kVminS32;
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
