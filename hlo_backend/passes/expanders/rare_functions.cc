#include "hlo_backend/passes/expanders/rare_functions.h"

#include <limits>

namespace ptxla::hlo {
namespace {

constexpr float kPi = 3.14159265358979f;
constexpr float kLn2 = 0.693147180559945f;

}  // namespace

Instruction* RareFunctions::F32(float value, const Instruction* like) {
  Instruction* c = b_.Constant(Literal::Scalar<float>(value));
  return like->shape().IsScalar() ? c
                                  : b_.BroadcastScalar(c, like->shape().dims());
}
Instruction* RareFunctions::Int(int64_t value, const Instruction* like) {
  Literal literal(Shape::Scalar(like->shape().type()));
  literal.SetInt(0, value);
  Instruction* c = b_.Constant(std::move(literal));
  return like->shape().IsScalar() ? c
                                  : b_.BroadcastScalar(c, like->shape().dims());
}
Instruction* RareFunctions::As(Instruction* x, PrimitiveType type) {
  if (x->shape().type() == type) return x;
  return b_.BitcastConvert(x, Shape::Array(type, x->shape().dims()));
}

Instruction* RareFunctions::WithSign(Instruction* magnitude,
                                     Instruction* sign) {
  Instruction* bits = As(magnitude, kU32);
  Instruction* mask = Int(0x80000000, bits);
  return As(b_.Or(bits, b_.And(As(sign, kU32), mask)), kF32);
}

Instruction* RareFunctions::Atan2(Instruction* y, Instruction* x) {
  Instruction *a = b_.Abs(y), *c = b_.Abs(x);
  Instruction *small = b_.Minimum(a, c), *large = b_.Maximum(a, c);
  Instruction* one = F32(1, x);
  Instruction* zero = F32(0, x);
  Instruction* infinite = F32(std::numeric_limits<float>::infinity(), x);
  Instruction* t = b_.Divide(small, large);
  // 0 / 0 and infinity / infinity.
  t = b_.Select(b_.Compare(large, zero, CompareDirection::kEq), zero, t);
  t = b_.Select(b_.Compare(small, infinite, CompareDirection::kEq), one, t);
  static constexpr float kTerms[] = {
      0.0028662257f, -0.0161657367f, 0.0429096138f, -0.0752896400f,
      0.1065626393f, -0.1420889944f, 0.1999355085f, -0.3333314528f};
  Instruction* square = b_.Multiply(t, t);
  Instruction* sum = F32(kTerms[0], x);
  for (int k = 1; k < 8; ++k) {
    sum = b_.Add(b_.Multiply(sum, square), F32(kTerms[k], x));
  }
  Instruction* angle = b_.Add(t, b_.Multiply(b_.Multiply(sum, square), t));
  angle = b_.Select(Less(c, a), b_.Subtract(F32(kPi / 2, x), angle), angle);
  Instruction* negative = Less(As(x, kS32), Int(0, As(x, kS32)));
  angle = b_.Select(negative, b_.Subtract(F32(kPi, x), angle), angle);
  return WithSign(angle, y);
}

Instruction* RareFunctions::Asin(Instruction* x) {
  Instruction* one = F32(1, x);
  Instruction* other =
      b_.Sqrt(b_.Multiply(b_.Subtract(one, x), b_.Add(one, x)));
  return Atan2(x, other);
}

Instruction* RareFunctions::Acos(Instruction* x) {
  Instruction* one = F32(1, x);
  Instruction* other =
      b_.Sqrt(b_.Multiply(b_.Subtract(one, x), b_.Add(one, x)));
  return Atan2(other, x);
}

Instruction* RareFunctions::Tan(Instruction* x) {
  return b_.Divide(b_.Sin(x), b_.Cos(x));
}

Instruction* RareFunctions::Sinh(Instruction* x) {
  Instruction* a = b_.Abs(x);
  Instruction* e = b_.Expm1(a);
  Instruction* half = F32(0.5f, x);
  Instruction* near =
      b_.Multiply(half, b_.Add(e, b_.Divide(e, b_.Add(e, F32(1, x)))));
  Instruction* far = b_.Exp(b_.Subtract(a, F32(kLn2, x)));
  return WithSign(b_.Select(Less(a, F32(20, x)), near, far), x);
}

// (exp(x) + exp(-x)) / 2, halved in the exponents, which may be large.
Instruction* RareFunctions::Cosh(Instruction* x) {
  Instruction* half = F32(-kLn2, x);
  return b_.Add(b_.Exp(b_.Add(x, half)), b_.Exp(b_.Subtract(half, x)));
}

Instruction* RareFunctions::Asinh(Instruction* x) {
  Instruction* a = b_.Abs(x);
  Instruction* one = F32(1, x);
  Instruction* square = b_.Multiply(a, a);
  Instruction* root = b_.Sqrt(b_.Add(square, one));
  Instruction* near = b_.Log1p(b_.Add(a, b_.Divide(square, b_.Add(one, root))));
  Instruction* far = b_.Add(b_.Log(a), F32(kLn2, x));
  return WithSign(b_.Select(Less(a, F32(1e9f, x)), near, far), x);
}

Instruction* RareFunctions::Acosh(Instruction* x) {
  Instruction* one = F32(1, x);
  Instruction* t = b_.Subtract(x, one);
  Instruction* near =
      b_.Log1p(b_.Add(t, b_.Sqrt(b_.Multiply(t, b_.Add(t, F32(2, x))))));
  Instruction* far = b_.Add(b_.Log(x), F32(kLn2, x));
  Instruction* value = b_.Select(Less(x, F32(1e9f, x)), near, far);
  return b_.Select(Less(x, one),
                   F32(std::numeric_limits<float>::quiet_NaN(), x), value);
}

Instruction* RareFunctions::Atanh(Instruction* x) {
  return b_.Multiply(F32(0.5f, x),
                     b_.Subtract(b_.Log1p(x), b_.Log1p(b_.Negate(x))));
}

// x - trunc(x / y) * y with the product in exact halves, and once more where
// the quotient was rounded up or too small.
Instruction* RareFunctions::FloatRemainder(Instruction* x, Instruction* y) {
  Instruction *a = b_.Abs(x), *d = b_.Abs(y);
  Instruction* infinite = F32(std::numeric_limits<float>::infinity(), x);
  const auto halves = [&](Instruction* v, Instruction** low) {
    Instruction* high =
        As(b_.And(As(v, kU32), Int(0xfffff000, As(v, kU32))), kF32);
    *low = b_.Subtract(v, high);
    return high;
  };
  Instruction* q = b_.Floor(b_.Divide(a, d));
  Instruction *q_low, *d_low;
  Instruction* q_high = halves(q, &q_low);
  Instruction* d_high = halves(d, &d_low);
  Instruction* r = b_.Subtract(a, b_.Multiply(q_high, d_high));
  r = b_.Subtract(r, b_.Multiply(q_low, d_high));
  r = b_.Subtract(r, b_.Multiply(q_high, d_low));
  r = b_.Subtract(r, b_.Multiply(q_low, d_low));
  r = b_.Select(Less(r, F32(0, x)), b_.Add(r, d), r);
  r = b_.Select(b_.Compare(r, d, CompareDirection::kGe), b_.Subtract(r, d), r);
  // What is smaller than the divisor stays; so the divisor may be infinite.
  r = b_.Select(Less(a, d), a, r);
  Instruction* nan = F32(std::numeric_limits<float>::quiet_NaN(), x);
  r = b_.Select(b_.Compare(a, infinite, CompareDirection::kEq), nan, r);
  r = b_.Select(b_.Compare(d, F32(0, x), CompareDirection::kEq), nan, r);
  return WithSign(r, x);
}

Instruction* RareFunctions::IntegerPower(Instruction* x, Instruction* y) {
  const bool is_signed = x->shape().type() == kS32;
  Instruction *one = Int(1, x), *zero = Int(0, x);
  Instruction *result = one, *base = x;
  for (int bit = 0; bit < (is_signed ? 31 : 32); ++bit) {
    Instruction* set = b_.Compare(b_.And(y, Int(int64_t{1} << bit, y)), zero,
                                  CompareDirection::kNe);
    result = b_.Select(set, b_.Multiply(result, base), result);
    base = b_.Multiply(base, base);
  }
  if (!is_signed) return result;
  // 1 / x^n: 1 for 1, 1 or -1 for -1; 1 / 0 is -1, as any division by zero.
  Instruction* minus = Int(-1, x);
  Instruction* odd = b_.Compare(b_.And(y, one), zero, CompareDirection::kNe);
  Instruction* inverse = b_.Select(
      b_.Compare(x, one, CompareDirection::kEq), one,
      b_.Select(
          b_.Compare(x, minus, CompareDirection::kEq),
          b_.Select(odd, minus, one),
          b_.Select(b_.Compare(x, zero, CompareDirection::kEq), minus, zero)));
  return b_.Select(Less(y, zero), inverse, result);
}

}  // namespace ptxla::hlo
