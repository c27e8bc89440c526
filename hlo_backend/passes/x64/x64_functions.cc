#include "hlo_backend/passes/x64/x64_functions.h"

#include <limits>

namespace ptxla::hlo {
namespace {

Instruction* Spread(Builder& b, Instruction* scalar, const Instruction* like) {
  return like->shape().IsScalar()
             ? scalar
             : b.BroadcastScalar(scalar, like->shape().dims());
}

}  // namespace

Instruction* X64Functions::U32(uint32_t value, const Instruction* like) {
  return Spread(b_, b_.Constant(Literal::Scalar<uint32_t>(value)), like);
}
Instruction* X64Functions::F32(float value, const Instruction* like) {
  return Spread(b_, b_.Constant(Literal::Scalar<float>(value)), like);
}
Instruction* X64Functions::IsZero(X64Pair x) {
  return b_.Compare(b_.Or(x.low, x.high), U32(0, x.low), CompareDirection::kEq);
}
Instruction* X64Functions::IsNegative(X64Pair x) {
  return b_.Compare(x.high, U32(0x80000000u, x.high), CompareDirection::kGe);
}

// Some 19 bits of the quotient a step, never too much (as 32-bit division in
// rare_functions.cc); afterwards at most two are missing.
X64Pair X64Functions::DivideUnsigned(X64Pair x, X64Pair y, bool remainder) {
  Instruction* divisor = math_.ToNarrow(y, kF32, false);
  Instruction* reciprocal = b_.Multiply(b_.Divide(F32(1, divisor), divisor),
                                        F32(1 - 0x1p-19f, divisor));
  X64Pair quotient = Small(0, x.low), rest = x;
  for (int step = 0; step < 4; ++step) {
    const X64Pair q = math_.FromNarrow(
        b_.Multiply(math_.ToNarrow(rest, kF32, false), reciprocal));
    quotient = math_.Add(quotient, q);
    rest = math_.Subtract(rest, math_.Multiply(q, y));
  }
  for (int step = 0; step < 2; ++step) {
    Instruction* more = math_.Compare(rest, y, CompareDirection::kGe, false);
    quotient =
        math_.Select(more, math_.Add(quotient, Small(1, x.low)), quotient);
    rest = math_.Select(more, math_.Subtract(rest, y), rest);
  }
  return remainder ? rest : quotient;
}

X64Pair X64Functions::Divide(X64Pair x, X64Pair y, bool is_signed,
                             bool remainder) {
  const X64Pair ones = {U32(0xffffffffu, x.low), U32(0xffffffffu, x.low)};
  const X64Pair by_zero = remainder ? x : ones;
  X64Pair value = DivideUnsigned(is_signed ? math_.Abs(x) : x,
                                 is_signed ? math_.Abs(y) : y, remainder);
  if (is_signed) {
    Instruction* negative = IsNegative(x);
    if (!remainder) negative = b_.Xor(negative, IsNegative(y));
    value = math_.Select(negative, math_.Negate(value), value);
  }
  return math_.Select(IsZero(y), by_zero, value);
}

X64Pair X64Functions::Clz(X64Pair x) {
  Instruction* empty =
      b_.Compare(x.high, U32(0, x.high), CompareDirection::kEq);
  Instruction* low = b_.Unary(Opcode::kClz, x.low);
  Instruction* high = b_.Unary(Opcode::kClz, x.high);
  return {b_.Add(high, b_.Select(empty, low, U32(0, low))), U32(0, low)};
}

X64Pair X64Functions::PopulationCount(X64Pair x) {
  return {b_.Add(b_.Unary(Opcode::kPopulationCount, x.low),
                 b_.Unary(Opcode::kPopulationCount, x.high)),
          U32(0, x.low)};
}

X64Pair X64Functions::Sign(X64Pair x) {
  const X64Pair minus = {U32(0xffffffffu, x.low), U32(0xffffffffu, x.low)};
  return math_.Select(
      IsNegative(x), minus,
      math_.Select(IsZero(x), Small(0, x.low), Small(1, x.low)));
}

X64Pair X64Functions::Power(X64Pair x, X64Pair y, bool is_signed) {
  X64Pair result = Small(1, x.low), base = x;
  for (int bit = 0; bit < 64; ++bit) {
    Instruction* word = bit < 32 ? y.low : y.high;
    Instruction* set =
        b_.Compare(b_.And(word, U32(uint32_t{1} << (bit % 32), word)),
                   U32(0, word), CompareDirection::kNe);
    result = math_.Select(set, math_.Multiply(result, base), result);
    if (bit < 63) base = math_.Multiply(base, base);
  }
  if (!is_signed) return result;
  // 1 / x^n.
  const X64Pair inverse = Divide(Small(1, x.low), x, true, false);
  Instruction* odd = b_.Compare(b_.And(y.low, U32(1, y.low)), U32(0, y.low),
                                CompareDirection::kNe);
  const X64Pair even = math_.Multiply(inverse, inverse);
  X64Pair reciprocal = math_.Select(odd, inverse, even);
  reciprocal = math_.Select(IsZero(x), inverse, reciprocal);
  return math_.Select(IsNegative(y), reciprocal, result);
}

X64Pair X64Functions::FloatDivide(X64Pair x, X64Pair y) {
  Instruction* zero = F32(0, x.high);
  Instruction* first = b_.Divide(x.high, y.high);
  const X64Pair product = math_.FloatMultiply({zero, first}, y);
  const X64Pair rest = math_.FloatAdd(x, math_.FloatNegate(product));
  Instruction* second = b_.Divide(rest.high, y.high);
  const X64Pair sum = math_.FloatAdd({zero, first}, {zero, second});
  // Of an infinite or undefined quotient nothing is left over.
  Instruction* finite = b_.IsFinite(b_.Add(sum.high, rest.high));
  return {b_.Select(finite, sum.low, zero), b_.Select(finite, sum.high, first)};
}

// A quotient off by one leaves a rest that is too large, or of the other sign.
X64Pair X64Functions::FloatRemainder(X64Pair x, X64Pair y) {
  Instruction* zero = F32(0, x.high);
  const X64Pair size = FloatAbs(x), divisor = FloatAbs(y);
  const X64Pair quotient = FloatTruncate(FloatDivide(size, divisor));
  const X64Pair less = math_.FloatNegate(divisor);
  X64Pair rest = math_.FloatAdd(
      size, math_.FloatNegate(math_.FloatMultiply(quotient, divisor)));
  Instruction* negative =
      math_.FloatCompare(rest, {zero, zero}, CompareDirection::kLt);
  rest = math_.Select(negative, math_.FloatAdd(rest, divisor), rest);
  Instruction* more = math_.FloatCompare(rest, divisor, CompareDirection::kGe);
  rest = math_.Select(more, math_.FloatAdd(rest, less), rest);
  // All of x is the rest where y is infinite.
  Instruction* all =
      b_.And(b_.IsFinite(x.high),
             b_.Compare(divisor.high,
                        F32(std::numeric_limits<float>::infinity(), zero),
                        CompareDirection::kEq));
  rest = math_.Select(all, size, rest);
  Instruction* turned = b_.Compare(x.high, zero, CompareDirection::kLt);
  return math_.Select(turned, math_.FloatNegate(rest), rest);
}

X64Pair X64Functions::FloatAbs(X64Pair x) {
  Instruction* negative =
      b_.Compare(x.high, F32(0, x.high), CompareDirection::kLt);
  const X64Pair turned = math_.FloatNegate(x);
  return {b_.Select(negative, turned.low, x.low), b_.Abs(x.high)};
}

X64Pair X64Functions::FloatSelect(X64Pair x, X64Pair y, CompareDirection wins) {
  Instruction* first = b_.Or(math_.FloatCompare(x, y, wins),
                             b_.Compare(x.high, x.high, CompareDirection::kNe));
  return math_.Select(first, x, y);
}

X64Pair X64Functions::FloatSqrt(X64Pair x) {
  Instruction* zero = F32(0, x.high);
  Instruction* root = b_.Sqrt(x.high);
  const X64Pair square = math_.FloatMultiply({zero, root}, {zero, root});
  const X64Pair rest = math_.FloatAdd(x, math_.FloatNegate(square));
  Instruction* more = b_.Divide(rest.high, b_.Multiply(F32(2, root), root));
  const X64Pair sum = math_.FloatAdd({zero, root}, {zero, more});
  Instruction* fine = b_.IsFinite(sum.high);
  return {b_.Select(fine, sum.low, zero), b_.Select(fine, sum.high, root)};
}

std::optional<X64Pair> X64Functions::OfHighParts(Opcode op,
                                                 absl::Span<const X64Pair> xs) {
  switch (op) {
    case Opcode::kAcos:
    case Opcode::kAcosh:
    case Opcode::kAsin:
    case Opcode::kAsinh:
    case Opcode::kAtan2:
    case Opcode::kAtanh:
    case Opcode::kCbrt:
    case Opcode::kCos:
    case Opcode::kCosh:
    case Opcode::kErf:
    case Opcode::kExp:
    case Opcode::kExpm1:
    case Opcode::kLog:
    case Opcode::kLog1p:
    case Opcode::kLogistic:
    case Opcode::kPower:
    case Opcode::kRsqrt:
    case Opcode::kSign:
    case Opcode::kSin:
    case Opcode::kSinh:
    case Opcode::kTan:
    case Opcode::kTanh:
      break;
    default:
      return std::nullopt;
  }
  Instruction* value = xs.size() == 1 ? b_.Unary(op, xs[0].high)
                                      : b_.Binary(op, xs[0].high, xs[1].high);
  return X64Pair{F32(0, value), value};
}

// Both halves of 16 bits are exact.
X64Pair X64Functions::ToF64(Instruction* x) {
  const PrimitiveType from = x->shape().type();
  Instruction* zero = F32(0, x);
  if (IsFloat(from) || BitWidth(from) < 32) {
    return {zero, from == kF32 ? x : b_.Convert(x, kF32)};
  }
  Instruction* word =
      from == kU32
          ? x
          : b_.BitcastConvert(x, Shape::Array(kU32, x->shape().dims()));
  Instruction* low = b_.Convert(b_.And(word, U32(0xffff, word)), kF32);
  Instruction* sixteen = U32(16, word);
  Instruction* high =
      from == kU32
          ? b_.ShiftRightLogical(word, sixteen)
          : b_.ShiftRightArithmetic(
                x, b_.BitcastConvert(sixteen,
                                     Shape::Array(kS32, x->shape().dims())));
  Instruction* scaled = b_.Multiply(b_.Convert(high, kF32), F32(65536, high));
  return math_.FloatAdd({zero, scaled}, {zero, low});
}

X64Pair X64Functions::IntegerToF64(X64Pair x, bool is_signed) {
  Instruction* high = x.high;
  if (is_signed) {
    high = b_.BitcastConvert(high, Shape::Array(kS32, high->shape().dims()));
  }
  X64Pair upper = ToF64(high);
  Instruction* scale = F32(0x1p32f, high);
  upper = {b_.Multiply(upper.low, scale), b_.Multiply(upper.high, scale)};
  return math_.FloatAdd(upper, ToF64(x.low));
}

}  // namespace ptxla::hlo
