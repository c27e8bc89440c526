#include "hlo_backend/passes/x64/x64_complex.h"

#include <limits>
#include <utility>

namespace ptxla::hlo {
namespace {

// However it was moved about.
bool IsConstantZero(const Instruction& x) {
  switch (x.opcode()) {
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return IsConstantZero(*x.operand(0));
    default:
      break;
  }
  return x.opcode() == Opcode::kConstant && !x.literal().IsElided() &&
         (x.shape().IsScalar() || x.literal().IsSplat()) &&
         x.literal().GetDouble(0) == 0;
}

}  // namespace

Instruction* X64Complex::F32(float value, const Instruction* like) {
  Instruction* c = b_.Constant(Literal::Scalar<float>(value));
  return like->shape().IsScalar() ? c
                                  : b_.BroadcastScalar(c, like->shape().dims());
}

X64Pair X64Complex::FromReal(Instruction* re) {
  if (re->shape().type() != kF32) re = b_.Convert(re, kF32);
  return {re, Zero(re)};
}

X64Pair X64Complex::Add(X64Pair x, X64Pair y) {
  return {b_.Add(x.low, y.low), b_.Add(x.high, y.high)};
}
X64Pair X64Complex::Subtract(X64Pair x, X64Pair y) {
  return {b_.Subtract(x.low, y.low), b_.Subtract(x.high, y.high)};
}
X64Pair X64Complex::Negate(X64Pair x) {
  return {b_.Negate(x.low), b_.Negate(x.high)};
}
X64Pair X64Complex::Multiply(X64Pair x, X64Pair y) {
  return {b_.Subtract(b_.Multiply(x.low, y.low), b_.Multiply(x.high, y.high)),
          b_.Add(b_.Multiply(x.low, y.high), b_.Multiply(x.high, y.low))};
}
X64Pair X64Complex::Select(Instruction* pred, X64Pair x, X64Pair y) {
  return {b_.Select(pred, x.low, y.low), b_.Select(pred, x.high, y.high)};
}

// Scaled by the larger part, so that its square does not overflow.
X64Pair X64Complex::Divide(X64Pair x, X64Pair y) {
  Instruction* scale = b_.Maximum(b_.Abs(y.low), b_.Abs(y.high));
  // Of zero and of infinity nothing is taken off.
  Instruction* plain = b_.Or(IsZero(scale), b_.Not(b_.IsFinite(scale)));
  scale = b_.Select(plain, F32(1, scale), scale);
  const X64Pair s = {b_.Divide(y.low, scale), b_.Divide(y.high, scale)};
  Instruction* square =
      b_.Add(b_.Multiply(s.low, s.low), b_.Multiply(s.high, s.high));
  const X64Pair n = Multiply(x, {s.low, b_.Negate(s.high)});
  Instruction* d = b_.Multiply(square, scale);
  return {b_.Divide(n.low, d), b_.Divide(n.high, d)};
}

Instruction* X64Complex::Abs(X64Pair x) {
  Instruction* re = b_.Abs(x.low);
  Instruction* im = b_.Abs(x.high);
  Instruction* most = b_.Maximum(re, im);
  Instruction* ratio = b_.Divide(b_.Minimum(re, im), most);
  Instruction* length = b_.Multiply(
      most, b_.Sqrt(b_.Add(F32(1, most), b_.Multiply(ratio, ratio))));
  Instruction* infinity = F32(std::numeric_limits<float>::infinity(), most);
  Instruction* as_is =
      b_.Or(IsZero(most), b_.Compare(most, infinity, CompareDirection::kEq));
  return b_.Select(as_is, most, length);
}

Instruction* X64Complex::Equal(X64Pair x, X64Pair y,
                               CompareDirection direction) {
  return b_.Binary(
      direction == CompareDirection::kEq ? Opcode::kAnd : Opcode::kOr,
      b_.Compare(x.low, y.low, direction),
      b_.Compare(x.high, y.high, direction));
}

X64Pair X64Complex::Constant(const Literal& literal) {
  const Shape half = Shape::Array(kF32, literal.shape().dims());
  if (literal.IsElided()) {
    return FromReal(b_.Constant(Literal::Elided(half)));
  }
  const bool splat = literal.IsSplat();
  const Shape stored = splat ? Shape::Scalar(kF32) : half;
  Literal re(stored), im(stored);
  for (int64_t i = 0; i < stored.ElementCount(); ++i) {
    const auto value = literal.GetComplex(i);
    re.Set<float>(i, static_cast<float>(value.real()));
    im.Set<float>(i, static_cast<float>(value.imag()));
  }
  X64Pair pair = {b_.Constant(std::move(re)), b_.Constant(std::move(im))};
  if (splat && !half.IsScalar()) {
    pair.low = b_.BroadcastScalar(pair.low, half.dims());
    pair.high = b_.BroadcastScalar(pair.high, half.dims());
  }
  return pair;
}

X64Pair X64Complex::Bilinear(X64Pair x, X64Pair y, const Product& product) {
  if (IsConstantZero(*x.high)) {
    return {product(x.low, y.low), product(x.low, y.high)};
  }
  if (IsConstantZero(*y.high)) {
    return {product(x.low, y.low), product(x.high, y.low)};
  }
  Instruction* k = product(b_.Add(x.low, x.high), y.low);
  return {b_.Subtract(k, product(x.high, b_.Add(y.low, y.high))),
          b_.Add(k, product(x.low, b_.Subtract(y.high, y.low)))};
}

X64Pair X64Complex::SinhCosh(Instruction* x) {
  // By e = expm1(|x|): sinh = (e + e / (e + 1)) / 2, cosh = sinh + exp(-|x|).
  Instruction* size = b_.Abs(x);
  Instruction* e = b_.Expm1(size);
  Instruction* more = b_.Add(e, F32(1, x));
  Instruction* finite = b_.IsFinite(more);
  Instruction* part = b_.Select(finite, b_.Divide(e, more), F32(1, x));
  Instruction* sinh = Half(b_.Add(e, part));
  Instruction* cosh = b_.Add(sinh, b_.Exp(b_.Negate(size)));
  Instruction* negative = b_.Compare(x, Zero(x), CompareDirection::kLt);
  return {b_.Select(negative, b_.Negate(sinh), sinh), cosh};
}

X64Pair X64Complex::Exp(X64Pair x) {
  Instruction* e = b_.Exp(x.low);
  const X64Pair turned = {b_.Multiply(e, b_.Cos(x.high)),
                          b_.Multiply(e, b_.Sin(x.high))};
  // No infinity times zero on the real axis.
  return Select(IsZero(x.high), {e, x.high}, turned);
}

X64Pair X64Complex::Expm1(X64Pair x) {
  // exp(a) cos(b) - 1 = expm1(a) cos(b) + (cos(b) - 1)
  Instruction* s = b_.Sin(Half(x.high));
  Instruction* square = b_.Multiply(F32(2, s), b_.Multiply(s, s));
  return {b_.Subtract(b_.Multiply(b_.Expm1(x.low), b_.Cos(x.high)), square),
          b_.Multiply(b_.Exp(x.low), b_.Sin(x.high))};
}

X64Pair X64Complex::Log(X64Pair x) {
  return {b_.Log(Abs(x)), b_.Binary(Opcode::kAtan2, x.high, x.low)};
}

X64Pair X64Complex::Sqrt(X64Pair x) {
  Instruction* r = Abs(x);
  Instruction* half = b_.Sqrt(Half(b_.Add(r, b_.Abs(x.low))));
  Instruction* other =
      b_.Divide(b_.Abs(x.high), b_.Multiply(F32(2, half), half));
  Instruction* right = b_.Compare(x.low, Zero(r), CompareDirection::kGe);
  Instruction* re = b_.Select(right, half, other);
  Instruction* im = b_.Select(right, other, half);
  Instruction* below = b_.Compare(x.high, Zero(r), CompareDirection::kLt);
  return Select(IsZero(r), {Zero(r), x.high},
                {re, b_.Select(below, b_.Negate(im), im)});
}

X64Pair X64Complex::Rsqrt(X64Pair x) {
  Instruction* r = Abs(x);
  const X64Pair inverse = Divide({F32(1, r), Zero(r)}, Sqrt(x));
  // At zero, whose direction nothing says, the length is infinite.
  return Select(IsZero(r),
                {F32(std::numeric_limits<float>::infinity(), r),
                 F32(std::numeric_limits<float>::quiet_NaN(), r)},
                inverse);
}

X64Pair X64Complex::Power(X64Pair x, X64Pair y) {
  const auto is_zero = [&](X64Pair z) {
    return b_.And(IsZero(z.low), IsZero(z.high));
  };
  Instruction* one = F32(1, x.low);
  Instruction* zero = Zero(x.low);
  const X64Pair of_zero = {b_.Select(is_zero(y), one, zero), zero};
  return Select(is_zero(x), of_zero, Exp(Multiply(y, Log(x))));
}

X64Pair X64Complex::Tanh(X64Pair x) {
  // With t = tanh a, s = sin b, c = cos b and q = 1 - t^2 = 1 / cosh^2 a:
  // {t / (c^2 + t^2 s^2), q s c / (c^2 + t^2 s^2)}.
  Instruction* t = b_.Tanh(x.low);
  const X64Pair h = SinhCosh(x.low);
  Instruction* q = b_.Divide(F32(1, t), b_.Multiply(h.high, h.high));
  Instruction* s = b_.Sin(x.high);
  Instruction* c = b_.Cos(x.high);
  Instruction* ts = b_.Multiply(t, s);
  Instruction* d = b_.Add(b_.Multiply(c, c), b_.Multiply(ts, ts));
  return {b_.Divide(t, d), b_.Divide(b_.Multiply(q, b_.Multiply(s, c)), d)};
}

std::optional<X64Pair> X64Complex::Of(Opcode op, absl::Span<const X64Pair> xs) {
  if (xs.size() == 2) {
    switch (op) {
      case Opcode::kAdd:
        return Add(xs[0], xs[1]);
      case Opcode::kSubtract:
        return Subtract(xs[0], xs[1]);
      case Opcode::kMultiply:
        return Multiply(xs[0], xs[1]);
      case Opcode::kDivide:
        return Divide(xs[0], xs[1]);
      case Opcode::kPower:
        return Power(xs[0], xs[1]);
      default:
        return std::nullopt;
    }
  }
  if (xs.size() != 1) return std::nullopt;
  const X64Pair x = xs[0];
  switch (op) {
    case Opcode::kNegate:
      return Negate(x);
    case Opcode::kSign: {
      Instruction* r = Abs(x);
      return Select(IsZero(r), {Zero(r), Zero(r)},
                    {b_.Divide(x.low, r), b_.Divide(x.high, r)});
    }
    case Opcode::kExp:
      return Exp(x);
    case Opcode::kExpm1:
      return Expm1(x);
    case Opcode::kLog:
      return Log(x);
    case Opcode::kLog1p:
      return Log({b_.Add(x.low, F32(1, x.low)), x.high});
    case Opcode::kSqrt:
      return Sqrt(x);
    case Opcode::kRsqrt:
      return Rsqrt(x);
    case Opcode::kLogistic: {
      const X64Pair e = Exp(Negate(x));
      Instruction* one = F32(1, x.low);
      return Divide({one, Zero(one)}, {b_.Add(e.low, one), e.high});
    }
    case Opcode::kSin: {
      const X64Pair h = SinhCosh(x.high);
      return X64Pair{b_.Multiply(b_.Sin(x.low), h.high),
                     b_.Multiply(b_.Cos(x.low), h.low)};
    }
    case Opcode::kCos: {
      const X64Pair h = SinhCosh(x.high);
      return X64Pair{b_.Multiply(b_.Cos(x.low), h.high),
                     b_.Negate(b_.Multiply(b_.Sin(x.low), h.low))};
    }
    case Opcode::kTanh:
      return Tanh(x);
    case Opcode::kTan: {
      // -i tanh(i x)
      const X64Pair t = Tanh({b_.Negate(x.high), x.low});
      return X64Pair{t.high, b_.Negate(t.low)};
    }
    default:
      return std::nullopt;
  }
}

}  // namespace ptxla::hlo
