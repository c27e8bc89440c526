#include "hlo_backend/passes/x64/x64_pairs.h"

#include <cmath>
#include <utility>

namespace ptxla::hlo {

bool IsX64(PrimitiveType type) {
  return type == PrimitiveType::kS64 || type == PrimitiveType::kU64 ||
         type == PrimitiveType::kF64 || type == PrimitiveType::kC64;
}
bool IsX64(const Shape& shape) {
  return shape.IsArray() && IsX64(shape.type());
}
PrimitiveType X64HalfType(PrimitiveType type) {
  return type == PrimitiveType::kF64 || type == PrimitiveType::kC64 ? kF32
                                                                    : kU32;
}

Instruction* X64Math::U32(uint32_t value, const Instruction* like) {
  Instruction* c = b_.Constant(Literal::Scalar<uint32_t>(value));
  return like->shape().IsScalar() ? c
                                  : b_.BroadcastScalar(c, like->shape().dims());
}
Instruction* X64Math::F32(float value, const Instruction* like) {
  Instruction* c = b_.Constant(Literal::Scalar<float>(value));
  return like->shape().IsScalar() ? c
                                  : b_.BroadcastScalar(c, like->shape().dims());
}
Instruction* X64Math::AsSigned(Instruction* x) {
  return b_.BitcastConvert(
      x, Shape::Array(PrimitiveType::kS32, x->shape().dims()));
}
Instruction* X64Math::AsUnsigned(Instruction* x) {
  return b_.BitcastConvert(x, Shape::Array(kU32, x->shape().dims()));
}

X64Pair X64Math::Add(X64Pair x, X64Pair y) {
  Instruction* low = b_.Add(x.low, y.low);
  Instruction* carry =
      b_.Convert(b_.Compare(low, x.low, CompareDirection::kLt), kU32);
  return {low, b_.Add(b_.Add(x.high, y.high), carry)};
}

X64Pair X64Math::Subtract(X64Pair x, X64Pair y) {
  Instruction* borrow =
      b_.Convert(b_.Compare(x.low, y.low, CompareDirection::kLt), kU32);
  return {b_.Subtract(x.low, y.low),
          b_.Subtract(b_.Subtract(x.high, y.high), borrow)};
}

// The upper word of the 64-bit product, by 16-bit pieces.
Instruction* X64Math::MultiplyHigh(Instruction* x, Instruction* y) {
  Instruction* mask = U32(0xffff, x);
  Instruction* sixteen = U32(16, x);
  auto low = [&](Instruction* v) { return b_.And(v, mask); };
  auto high = [&](Instruction* v) { return b_.ShiftRightLogical(v, sixteen); };
  Instruction *x0 = low(x), *x1 = high(x), *y0 = low(y), *y1 = high(y);
  Instruction* middle = b_.Add(b_.Multiply(x1, y0), high(b_.Multiply(x0, y0)));
  Instruction* middle2 = b_.Add(b_.Multiply(x0, y1), low(middle));
  return b_.Add(b_.Add(b_.Multiply(x1, y1), high(middle)), high(middle2));
}

X64Pair X64Math::Multiply(X64Pair x, X64Pair y) {
  Instruction* cross =
      b_.Add(b_.Multiply(x.high, y.low), b_.Multiply(x.low, y.high));
  return {b_.Multiply(x.low, y.low), b_.Add(MultiplyHigh(x.low, y.low), cross)};
}

X64Pair X64Math::Negate(X64Pair x) {
  Instruction* zero = U32(0, x.low);
  return Subtract({zero, zero}, x);
}

X64Pair X64Math::Abs(X64Pair x) {
  Instruction* negative = b_.Compare(AsSigned(x.high), AsSigned(U32(0, x.high)),
                                     CompareDirection::kLt);
  return Select(negative, Negate(x), x);
}

X64Pair X64Math::Bitwise(Opcode op, X64Pair x, X64Pair y) {
  return {b_.Binary(op, x.low, y.low), b_.Binary(op, x.high, y.high)};
}

X64Pair X64Math::Not(X64Pair x) { return {b_.Not(x.low), b_.Not(x.high)}; }

// Shifts of 32 and more give zero, and amounts that wrap below zero are large:
// so every term below vanishes where it does not apply.
X64Pair X64Math::Shift(Opcode op, X64Pair x, X64Pair y) {
  Instruction* amount =
      b_.Select(b_.Compare(y.high, U32(0, y.high), CompareDirection::kEq),
                y.low, U32(64, y.low));
  Instruction* rest = b_.Subtract(U32(32, amount), amount);
  Instruction* beyond = b_.Subtract(amount, U32(32, amount));
  if (op == Opcode::kShiftLeft) {
    Instruction* high =
        b_.Or(b_.ShiftLeft(x.high, amount), b_.ShiftRightLogical(x.low, rest));
    return {b_.ShiftLeft(x.low, amount),
            b_.Or(high, b_.ShiftLeft(x.low, beyond))};
  }
  Instruction* low =
      b_.Or(b_.ShiftRightLogical(x.low, amount), b_.ShiftLeft(x.high, rest));
  if (op == Opcode::kShiftRightLogical) {
    return {b_.Or(low, b_.ShiftRightLogical(x.high, beyond)),
            b_.ShiftRightLogical(x.high, amount)};
  }
  Instruction* within =
      b_.Compare(amount, U32(32, amount), CompareDirection::kLt);
  Instruction* sign = AsSigned(x.high);
  Instruction* far =
      AsUnsigned(b_.ShiftRightArithmetic(sign, AsSigned(beyond)));
  return {b_.Select(within, low, far),
          AsUnsigned(b_.ShiftRightArithmetic(sign, AsSigned(amount)))};
}

Instruction* X64Math::Compare(X64Pair x, X64Pair y, CompareDirection direction,
                              bool is_signed) {
  const CompareDirection equal = CompareDirection::kEq;
  if (direction == CompareDirection::kEq ||
      direction == CompareDirection::kNe) {
    return b_.Binary(direction == equal ? Opcode::kAnd : Opcode::kOr,
                     b_.Compare(x.low, y.low, direction),
                     b_.Compare(x.high, y.high, direction));
  }
  const bool less =
      direction == CompareDirection::kLt || direction == CompareDirection::kLe;
  Instruction *xh = x.high, *yh = y.high;
  if (is_signed) {
    xh = AsSigned(xh);
    yh = AsSigned(yh);
  }
  Instruction* high_decides =
      b_.Compare(xh, yh, less ? CompareDirection::kLt : CompareDirection::kGt);
  Instruction* low_decides = b_.And(b_.Compare(x.high, y.high, equal),
                                    b_.Compare(x.low, y.low, direction));
  return b_.Or(high_decides, low_decides);
}

X64Pair X64Math::Select(Instruction* pred, X64Pair x, X64Pair y) {
  return {b_.Select(pred, x.low, y.low), b_.Select(pred, x.high, y.high)};
}

X64Pair X64Math::FromFloat(Instruction* x, bool is_signed) {
  Instruction* value = b_.Convert(x, kF32);
  const auto pair = [&](uint32_t low, uint32_t high) {
    return X64Pair{U32(low, value), U32(high, value)};
  };
  const auto is = [&](CompareDirection direction, float limit) {
    return b_.Compare(value, F32(limit, value), direction);
  };
  const X64Pair most = pair(0xffffffff, is_signed ? 0x7fffffff : 0xffffffff);
  const X64Pair least = pair(0, is_signed ? 0x80000000 : 0);
  const X64Pair small = Select(
      is(CompareDirection::kLt, is_signed ? -0x1p63f : 0), least, Whole(value));
  return Select(is(CompareDirection::kGe, is_signed ? 0x1p63f : 0x1p64f), most,
                small);
}

// Modulo 2^64.
X64Pair X64Math::Whole(Instruction* x) {
  Instruction* value = b_.Convert(x, kF32);
  Instruction* size = b_.Abs(value);
  // Both steps are exact: powers of two, and a difference of neighbours.
  Instruction* high = b_.Floor(b_.Multiply(size, F32(0x1p-32f, size)));
  Instruction* low = b_.Subtract(size, b_.Multiply(high, F32(0x1p32f, size)));
  X64Pair result = {b_.Convert(low, kU32), b_.Convert(high, kU32)};
  Instruction* negative =
      b_.Compare(value, F32(0, value), CompareDirection::kLt);
  return Select(negative, Negate(result), result);
}

X64Pair X64Math::FromNarrow(Instruction* x) {
  const PrimitiveType from = x->shape().type();
  if (IsFloat(from)) return Whole(x);
  if (!IsSigned(from)) {
    Instruction* low = from == kU32 ? x : b_.Convert(x, kU32);
    return {low, U32(0, x)};
  }
  Instruction* word =
      from == PrimitiveType::kS32 ? x : b_.Convert(x, PrimitiveType::kS32);
  Instruction* shift = AsSigned(U32(31, x));
  return {AsUnsigned(word), AsUnsigned(b_.ShiftRightArithmetic(word, shift))};
}

Instruction* X64Math::ToFloat(X64Pair x, bool is_signed) {
  const X64Pair size = is_signed ? Abs(x) : x;
  Instruction* high =
      b_.Multiply(b_.Convert(size.high, kF32), F32(0x1p32f, x.low));
  Instruction* value = b_.Add(high, b_.Convert(size.low, kF32));
  if (!is_signed) return value;
  Instruction* negative = b_.Compare(AsSigned(x.high), AsSigned(U32(0, x.high)),
                                     CompareDirection::kLt);
  return b_.Select(negative, b_.Negate(value), value);
}

Instruction* X64Math::ToNarrow(X64Pair x, PrimitiveType to, bool is_signed) {
  if (to == kU32) return x.low;
  if (to == PrimitiveType::kS32) return AsSigned(x.low);
  if (to == PrimitiveType::kPred) {
    return b_.Compare(b_.Or(x.low, x.high), U32(0, x.low),
                      CompareDirection::kNe);
  }
  if (!IsFloat(to)) return b_.Convert(x.low, to);
  Instruction* value = ToFloat(x, is_signed);
  return to == kF32 ? value : b_.Convert(value, to);
}

// Knuth: the sum and its rounding error.
X64Pair X64Math::TwoSum(Instruction* x, Instruction* y) {
  Instruction* sum = b_.Add(x, y);
  Instruction* y_part = b_.Subtract(sum, x);
  Instruction* x_error = b_.Subtract(x, b_.Subtract(sum, y_part));
  return {b_.Add(x_error, b_.Subtract(y, y_part)), sum};
}

// What rounding leaves of an infinity is no number: then `otherwise` alone is
// the result, as the TPU compiler has it.
X64Pair X64Math::IfFinite(X64Pair x, Instruction* otherwise) {
  Instruction* finite = b_.IsFinite(x.high);
  return {b_.Select(finite, x.low, F32(0, x.low)),
          b_.Select(finite, x.high, otherwise)};
}

X64Pair X64Math::FloatAdd(X64Pair x, X64Pair y) {
  X64Pair sum = TwoSum(x.high, y.high);
  sum.low = b_.Add(sum.low, b_.Add(x.low, y.low));
  return IfFinite(TwoSum(sum.high, sum.low), sum.high);
}

X64Pair X64Math::FloatMultiply(X64Pair x, X64Pair y) {
  // Dekker: halves of 12 bits have exact products.
  auto split = [&](Instruction* v) -> X64Pair {
    Instruction* scaled = b_.Multiply(v, F32(4097, v));
    Instruction* high = b_.Subtract(scaled, b_.Subtract(scaled, v));
    return {b_.Subtract(v, high), high};
  };
  Instruction* product = b_.Multiply(x.high, y.high);
  const X64Pair a = split(x.high), c = split(y.high);
  Instruction* error = b_.Subtract(b_.Multiply(a.high, c.high), product);
  error = b_.Add(error, b_.Multiply(a.high, c.low));
  error = b_.Add(error, b_.Multiply(a.low, c.high));
  error = b_.Add(error, b_.Multiply(a.low, c.low));
  Instruction* cross =
      b_.Add(b_.Multiply(x.high, y.low), b_.Multiply(x.low, y.high));
  return IfFinite(TwoSum(product, b_.Add(error, cross)), product);
}

X64Pair X64Math::FloatNegate(X64Pair x) {
  return {b_.Negate(x.low), b_.Negate(x.high)};
}

// Low parts of zeros, infinities and NaN are zero: their order is that of the
// high ones.
Instruction* X64Math::FloatCompare(X64Pair x, X64Pair y,
                                   CompareDirection direction,
                                   CompareType type) {
  const auto high_is = [&](CompareDirection d) {
    Instruction* compare = b_.Compare(x.high, y.high, d);
    compare->mutable_attrs<CompareAttrs>()->type = type;
    return compare;
  };
  const bool either = direction == CompareDirection::kNe;
  if (either || direction == CompareDirection::kEq) {
    return b_.Binary(either ? Opcode::kOr : Opcode::kAnd, high_is(direction),
                     b_.Compare(x.low, y.low, direction));
  }
  const bool less =
      direction == CompareDirection::kLt || direction == CompareDirection::kLe;
  return b_.Or(high_is(less ? CompareDirection::kLt : CompareDirection::kGt),
               b_.And(high_is(CompareDirection::kEq),
                      b_.Compare(x.low, y.low, direction)));
}

X64Pair X64Math::Constant(const Literal& literal) {
  const Shape half =
      Shape::Array(X64HalfType(literal.shape().type()), literal.shape().dims());
  if (literal.IsElided()) {
    // Numbers that a printer left out. Those that are (position ids) are small.
    X64Pair pair = {b_.Constant(Literal::Elided(half)), nullptr};
    pair.high = b_.BroadcastScalar(b_.Zero(half.type()), half.dims());
    if (half.type() == kF32) std::swap(pair.low, pair.high);
    return pair;
  }
  const bool splat = literal.IsSplat();
  const Shape stored = splat ? Shape::Scalar(half.type()) : half;
  Literal low(stored), high(stored);
  for (int64_t i = 0; i < stored.ElementCount(); ++i) {
    if (half.type() == kF32) {
      const double value = literal.GetDouble(i);
      const float rounded = static_cast<float>(value);
      high.Set<float>(i, rounded);
      low.Set<float>(
          i, std::isfinite(rounded) ? static_cast<float>(value - rounded) : 0);
    } else {
      const uint64_t value = static_cast<uint64_t>(literal.GetInt(i));
      low.Set<uint32_t>(i, static_cast<uint32_t>(value));
      high.Set<uint32_t>(i, static_cast<uint32_t>(value >> 32));
    }
  }
  X64Pair pair = {b_.Constant(std::move(low)), b_.Constant(std::move(high))};
  if (splat && !half.IsScalar()) {
    pair.low = b_.BroadcastScalar(pair.low, half.dims());
    pair.high = b_.BroadcastScalar(pair.high, half.dims());
  }
  return pair;
}

}  // namespace ptxla::hlo
