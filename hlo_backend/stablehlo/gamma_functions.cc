// lgamma, digamma, zeta, polygamma.

#include "hlo_backend/stablehlo/math_emitter.h"
#include "hlo_backend/stablehlo/special_functions.h"

namespace ptxla::hlo::mlir {
namespace {

using I = Instruction*;
using Dir = CompareDirection;

constexpr double kPi = 3.14159265358979323846;
constexpr double kLogPi = 1.14472988584940017414;
constexpr double kLogSqrtTwoPi = 0.91893853320467274178;

constexpr double kLanczosG = 7;
constexpr double kLanczosBase = 0.99999999999980993227684700473478;
constexpr double kLanczos[] = {
    676.520368121885098567009190444019, -1259.13921672240287047156078755283,
    771.3234287776530788486528258894,   -176.61502916214059906584551354,
    12.507343278686904814458936853,     -0.13857109526572011689554707,
    9.984369578019570859563e-6,         1.50563273514931155834e-7};

// (2j)! / B(2j) for j = 1, 2 ...: divisors of the Euler-Maclaurin terms.
constexpr double kEulerMaclaurin[] = {12,
                                      -720,
                                      30240,
                                      -1209600,
                                      47900160,
                                      -1892437580.3183791606,
                                      74724249600,
                                      -2950130727918.164224,
                                      116467828143500.67249,
                                      -4597978722407472.6105,
                                      181521054019435467.73,
                                      -7166165256175667011.3};
constexpr int kZetaTerms = 10;  // summed before the formula

// z and log(z + g + 1/2) of the series at x, reflected below 1/2.
struct Lanczos {
  I reflects, z, t, log_t;
};

Lanczos Prepare(MathEmitter& m, I x) {
  Builder& b = m.builder();
  constexpr double kHalfG = kLanczosG + 0.5;
  constexpr double kLogHalfG = 2.01490302054226466947;  // its logarithm
  Lanczos l;
  l.reflects = m.Is(Dir::kLt, x, 0.5);
  l.z = m.Either(l.reflects, b.Negate(x), m.Sub(x, m.Value(1)));
  l.t = m.Add(l.z, kHalfG);
  // log1p keeps the small digits of z.
  l.log_t = m.Add(b.Log1p(m.Div(l.z, m.Value(kHalfG))), kLogHalfG);
  return l;
}

I Lgamma(MathEmitter& m, I x) {
  Builder& b = m.builder();
  const Lanczos l = Prepare(m, x);
  I sum = m.Value(kLanczosBase);
  for (size_t i = 0; i < std::size(kLanczos); ++i) {
    sum = m.Add(sum, m.Div(m.Value(kLanczos[i]),
                           m.Add(l.z, static_cast<double>(i + 1))));
  }
  // (z + 1/2) log t - t, with less cancellation.
  I power = m.Mul(m.Sub(m.Add(l.z, 0.5), m.Div(l.t, l.log_t)), l.log_t);
  I plain = m.Add(m.Add(power, kLogSqrtTwoPi), b.Log(sum));
  // Gamma(x) Gamma(1 - x) = pi / sin(pi x), x brought near 0.
  I size = b.Abs(x);
  I fraction = m.Sub(size, b.Floor(size));
  I near = m.Either(m.Is(Dir::kGt, fraction, 0.5), m.Sub(m.Value(1), fraction),
                    fraction);
  I log_sine = b.Log(b.Sin(m.Mul(kPi, near)));
  I reflected = m.Either(b.IsFinite(log_sine),
                         m.Sub(m.Sub(m.Value(kLogPi), log_sine), plain),
                         b.Negate(log_sine));
  I result = m.Either(l.reflects, reflected, plain);
  return m.Either(m.Is(Dir::kEq, size, m.Infinity()), m.Infinity(), result);
}

I Digamma(MathEmitter& m, I x) {
  Builder& b = m.builder();
  const Lanczos l = Prepare(m, x);
  I numerator = m.Value(0), denominator = m.Value(kLanczosBase);
  for (size_t i = 0; i < std::size(kLanczos); ++i) {
    I at = m.Add(l.z, static_cast<double>(i + 1));
    I term = m.Div(m.Value(kLanczos[i]), at);
    numerator = m.Sub(numerator, m.Div(term, at));
    denominator = m.Add(denominator, term);
  }
  I plain = m.Sub(m.Add(l.log_t, m.Div(numerator, denominator)),
                  m.Div(m.Value(kLanczosG), l.t));
  // psi(1 - x) - pi cot(pi x), x brought near 0.
  I near = m.Add(x, b.Abs(b.Floor(m.Add(x, 0.5))));
  I angle = m.Mul(kPi, near);
  I reflected = m.Sub(plain, m.Div(m.Mul(kPi, b.Cos(angle)), b.Sin(angle)));
  I result = m.Either(l.reflects, reflected, plain);
  I pole = b.And(m.Is(Dir::kLe, x, 0.0), m.IsInteger(x));
  return m.Either(pole, m.Nan(), result);
}

I Zeta(MathEmitter& m, I x, I q) {
  Builder& b = m.builder();
  I minus_x = b.Negate(x);
  I sum = b.Power(q, minus_x);
  I a = q;
  for (int k = 1; k < kZetaTerms; ++k) {
    a = m.Add(a, 1);
    sum = m.Add(sum, b.Power(a, minus_x));
  }
  a = m.Add(a, 1);
  I power = b.Power(a, minus_x);
  // a^(1-x)/(x-1) + a^-x/2 + sum of x (x+1) ... (x+2j-2) B/(2j)! a^(1-x-2j).
  sum = m.Add(sum, m.Mul(power, m.Div(a, m.Sub(x, m.Value(1)))));
  I inverse_square = m.Div(m.Value(1), m.Mul(a, a));
  constexpr int kTerms = static_cast<int>(std::size(kEulerMaclaurin));
  I series = m.Value(1 / kEulerMaclaurin[kTerms - 1]);
  for (int j = kTerms - 2; j >= 0; --j) {
    I factor = m.Mul(m.Mul(m.Add(x, 2.0 * j + 1), m.Add(x, 2.0 * j + 2)),
                     inverse_square);
    series = m.Add(m.Mul(series, factor), 1 / kEulerMaclaurin[j]);
  }
  I rest = m.Add(m.Mul(m.Div(x, a), series), 0.5);
  I result = m.Add(sum, m.Mul(power, rest));
  // Terms that are too small to matter may hide a NaN of the series.
  I is_pole = b.And(m.Is(Dir::kLe, q, 0.0), m.IsInteger(q));
  I half = m.Mul(0.5, x);
  result = m.Either(is_pole, m.Either(m.IsInteger(half), m.Infinity(), m.Nan()),
                    result);
  I undefined = b.And(m.Is(Dir::kLe, q, 0.0), b.Not(m.IsInteger(x)));
  result = m.Either(b.Or(undefined, m.Is(Dir::kLt, x, 1)), m.Nan(), result);
  return m.Either(m.Is(Dir::kEq, x, 1), m.Infinity(), result);
}

I Polygamma(MathEmitter& m, I n, I x) {
  Builder& b = m.builder();
  I next = m.Add(n, 1);
  // +1 for odd n, -1 for even.
  I parity = m.Sub(n, m.Mul(2, b.Floor(m.Mul(0.5, n))));
  I sign = m.Sub(m.Mul(2, parity), m.Value(1));
  I value = m.Mul(m.Mul(sign, b.Exp(Lgamma(m, next))), Zeta(m, next, x));
  value = m.Either(m.Is(Dir::kEq, n, 0.0), Digamma(m, x), value);
  I valid = b.And(m.Is(Dir::kGe, n, 0.0), m.IsInteger(n));
  return m.Either(valid, value, m.Nan());
}

using Wide = std::vector<Instruction*>;

}  // namespace

absl::StatusOr<Instruction*> EmitLgamma(Builder* b, Instruction* x) {
  return InWideType(
      b, {x}, [](MathEmitter& m, const Wide& v) { return Lgamma(m, v[0]); });
}
absl::StatusOr<Instruction*> EmitDigamma(Builder* b, Instruction* x) {
  return InWideType(
      b, {x}, [](MathEmitter& m, const Wide& v) { return Digamma(m, v[0]); });
}
absl::StatusOr<Instruction*> EmitZeta(Builder* b, Instruction* x,
                                      Instruction* q) {
  return InWideType(b, {x, q}, [](MathEmitter& m, const Wide& v) {
    return Zeta(m, v[0], v[1]);
  });
}
absl::StatusOr<Instruction*> EmitPolygamma(Builder* b, Instruction* n,
                                           Instruction* x) {
  return InWideType(b, {n, x}, [](MathEmitter& m, const Wide& v) {
    return Polygamma(m, v[0], v[1]);
  });
}

}  // namespace ptxla::hlo::mlir
