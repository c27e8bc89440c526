// X64Functions: f64 to whole numbers, as f64 and as integers.
//
// The high part of a pair is its value rounded to f32. So no whole or half
// number lies between the two: what the high part is nearest to, below or above
// decides, unless it is such a number itself.
#include <cmath>

#include "hlo_backend/passes/x64/x64_functions.h"

namespace ptxla::hlo {

X64Pair X64Functions::FloatFloor(X64Pair x) {
  Instruction* high = b_.Floor(x.high);
  Instruction* whole = b_.Compare(high, x.high, CompareDirection::kEq);
  Instruction* zero = F32(0, high);
  Instruction* low = b_.Select(whole, b_.Floor(x.low), zero);
  return math_.FloatAdd({zero, high}, {zero, low});
}

X64Pair X64Functions::FloatTruncate(X64Pair x) {
  Instruction* negative =
      b_.Compare(x.high, F32(0, x.high), CompareDirection::kLt);
  const X64Pair size = FloatFloor(FloatAbs(x));
  return math_.Select(negative, math_.FloatNegate(size), size);
}

// Ties go by the sign of the low part; without one, to even.
X64Pair X64Functions::FloatRoundEven(X64Pair x) {
  Instruction* zero = F32(0, x.high);
  Instruction* below = b_.Floor(x.high);
  Instruction* tie = b_.Compare(b_.Subtract(x.high, below), F32(0.5, x.high),
                                CompareDirection::kEq);
  const auto low_is = [&](CompareDirection direction) {
    return b_.And(tie, b_.Compare(x.low, zero, direction));
  };
  Instruction* high = b_.Unary(Opcode::kRoundNearestEven, x.high);
  high = b_.Select(low_is(CompareDirection::kLt), below, high);
  high = b_.Select(low_is(CompareDirection::kGt), b_.Add(below, F32(1, below)),
                   high);
  Instruction* whole = b_.Compare(below, x.high, CompareDirection::kEq);
  Instruction* low =
      b_.Select(whole, b_.Unary(Opcode::kRoundNearestEven, x.low), zero);
  return math_.FloatAdd({zero, high}, {zero, low});
}

X64Pair X64Functions::FloatRoundAway(X64Pair x) {
  Instruction* zero = F32(0, x.high);
  const X64Pair size = FloatAbs(x);
  const X64Pair below = FloatFloor(size);
  const X64Pair half = {zero, F32(0.5, zero)};
  Instruction* up =
      math_.FloatCompare(math_.FloatAdd(size, math_.FloatNegate(below)), half,
                         CompareDirection::kGe);
  const X64Pair rounded =
      math_.Select(up, math_.FloatAdd(below, {zero, F32(1, zero)}), below);
  Instruction* negative = b_.Compare(x.high, zero, CompareDirection::kLt);
  return math_.Select(negative, math_.FloatNegate(rounded), rounded);
}

// To [least, beyond - 1], NaN to itself.
X64Pair X64Functions::Clamped(X64Pair x, float least, float beyond) {
  const X64Pair first = {F32(0, x.low), F32(least, x.high)};
  const X64Pair last = {F32(-1, x.low), F32(beyond, x.high)};
  return FloatSelect(FloatSelect(x, first, CompareDirection::kGe), last,
                     CompareDirection::kLe);
}

// The high part of what fits may be the power of two beyond it, from which the
// low part takes away: modulo 2^64 that is 0 or the least number.
X64Pair X64Functions::F64ToInteger(X64Pair x, bool is_signed) {
  const float beyond = is_signed ? 0x1p63f : 0x1p64f;
  const X64Pair whole =
      FloatTruncate(Clamped(x, is_signed ? -0x1p63f : 0, beyond));
  X64Pair high = math_.FromNarrow(whole.high);
  if (!is_signed) {
    Instruction* wraps =
        b_.Compare(whole.high, F32(beyond, whole.high), CompareDirection::kGe);
    high = math_.Select(wraps, Small(0, high.low), high);
  }
  return math_.Add(high, math_.FromNarrow(whole.low));
}

Instruction* X64Functions::F64ToNarrow(X64Pair x, PrimitiveType to) {
  if (to == kF32) return x.high;
  if (IsFloat(to)) return b_.Convert(x.high, to);
  if (to == PrimitiveType::kPred) {
    return b_.Compare(x.high, F32(0, x.high), CompareDirection::kNe);
  }
  const bool is_signed = IsSigned(to);
  const float beyond = std::ldexp(1.0f, BitWidth(to) - (is_signed ? 1 : 0));
  const X64Pair whole =
      FloatTruncate(Clamped(x, is_signed ? -beyond : 0, beyond));
  if (BitWidth(to) < 32) return b_.Convert(whole.high, to);
  // As above, modulo 2^32.
  const Shape words = Shape::Array(kU32, x.high->shape().dims());
  const auto as_words = [&](Instruction* v) {
    return v->shape().type() == kU32 ? v : b_.BitcastConvert(v, words);
  };
  Instruction* wraps =
      b_.Compare(whole.high, F32(beyond, whole.high), CompareDirection::kGe);
  Instruction* high =
      b_.Select(wraps, U32(is_signed ? 0x80000000u : 0, whole.high),
                as_words(b_.Convert(whole.high, to)));
  Instruction* word = b_.Add(high, as_words(b_.Convert(whole.low, kS32)));
  return is_signed ? b_.BitcastConvert(word, Shape::Array(kS32, words.dims()))
                   : word;
}

}  // namespace ptxla::hlo
