// Powers, logarithms and hyperbolic functions of doubles. Exponentials: the
// nearest power of two and a Taylor series on |r| <= ln(2)/2. Logarithms: the
// series of 2 atanh((m - 1) / (m + 1)) for m in [sqrt(1/2), sqrt(2)).
#include <cmath>
#include <cstdint>

#include "base/numerics/bits.h"
#include "base/numerics/transcendental64.h"

namespace ptxla::numerics {
namespace {

constexpr double kInfinity = HUGE_VAL;
constexpr double kNan = __builtin_nan("");
// ln(2) as a sum: the first part has 20 zero bits at its end, so that its
// product with an exponent is exact.
constexpr double kLn2High = 0x1.62e42fefp-1;
constexpr double kLn2Low = 0x1.473de6af278edp-34;
constexpr double kLog2E64 = 0x1.71547652b82fep+0;
constexpr double kLog2E64Low = 0x1.777d0ffda0d24p-56;

// The nearest integer, ties to even, for |x| < 2^51.
double Nearest(double x) {
  constexpr double kShift = 0x1.8p52;
  return (x + kShift) - kShift;
}

// x * 2^k, rounded once; -2200 < k < 2200.
double Scale(double x, int k) {
  auto power = [](int e) {
    return BitCast<double>(static_cast<uint64_t>(e + 1023) << 52);
  };
  if (k > 1023)
    return x * power(1023) * power(k - 1023 > 1023 ? 1023 : k - 1023);
  if (k < -1022) {
    // One rounding only: x is in [0.7, 1.5), and the second factor is exact
    // unless the result is subnormal.
    const int rest = k + 1022 < -1022 ? -1022 : k + 1022;
    return x * power(rest) * power(-1022);
  }
  return x * power(k);
}

// exp(r) - 1 for |r| <= 0.35.
double Expm1Kernel(double r) {
  constexpr double c[] = {1.0 / 2,        1.0 / 6,          1.0 / 24,
                          1.0 / 120,      1.0 / 720,        1.0 / 5040,
                          1.0 / 40320,    1.0 / 362880,     1.0 / 3628800,
                          1.0 / 39916800, 1.0 / 479001600., 1.0 / 6227020800.};
  double sum = c[11];
  for (int i = 10; i >= 0; --i) sum = sum * r + c[i];
  return r + r * r * sum;
}

// exp(high + low), |low| much below |high|.
double ExpSum(double high, double low) {
  if (!(high < 800)) return high != high ? high : kInfinity;
  if (high < -800) return 0;
  const double k = Nearest(high * kLog2E64);
  const double r = ((high - k * kLn2High) - k * kLn2Low) + low;
  return Scale(1 + Expm1Kernel(r), static_cast<int>(k));
}

struct Logarithm {
  double exponent;  // log(x) = exponent * ln(2) + high + low
  double high;
  double low;
};

// `x` is finite and positive.
Logarithm LogParts(double x) {
  int exponent = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    exponent = -54;
  }
  uint64_t bits = BitCast<uint64_t>(x);
  exponent += static_cast<int>(bits >> 52) - 1023;
  bits = (bits & ((1ull << 52) - 1)) | (1023ull << 52);
  double m = BitCast<double>(bits);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  const double numerator = m - 1;  // exact
  const double denominator = m + 1;
  const double s = numerator / denominator;
  // The rest of that quotient: numerator - s * denominator, exactly, with
  // Dekker's product (denominator = m + 1 lost at most one bit, put back).
  const double denominator_low = (m - (denominator - 1));
  constexpr double kSplit = 134217729.0;
  const double sc = s * kSplit;
  const double s_high = sc - (sc - s);
  const double s_low = s - s_high;
  const double dc = denominator * kSplit;
  const double d_high = dc - (dc - denominator);
  const double d_low = denominator - d_high;
  const double product = s * denominator;
  const double product_low =
      ((s_high * d_high - product) + s_high * d_low + s_low * d_high) +
      s_low * d_low;
  const double rest =
      (((numerator - product) - product_low) - s * denominator_low) /
      denominator;
  const double square = s * s;
  double sum = 0;
  for (int i = 12; i >= 1; --i) sum = sum * square + 1.0 / (2 * i + 1);
  return {static_cast<double>(exponent), 2 * s,
          2 * rest + 2 * s * square * sum};
}

bool LogOfSpecial(double x, double* result) {
  if (x > 0 && x < kInfinity) return false;
  *result = x == 0 ? -kInfinity : (x > 0 ? kInfinity : kNan);
  return true;
}

}  // namespace

double Exp2(double x) {
  if (!(x < 1100)) return x != x ? x : kInfinity;
  if (x < -1100) return 0;
  const double k = Nearest(x);
  const double r = x - k;
  return Scale(
      1 + Expm1Kernel(r * 0x1.62e42fefa39efp-1 + r * 0x1.abc9e3b39803fp-56),
      static_cast<int>(k));
}

double Exp(double x) { return ExpSum(x, 0); }

double Expm1(double x) {
  if (std::fabs(x) < 0.35) return x == 0 ? x : Expm1Kernel(x);
  return Exp(x) - 1;
}

double Log(double x) {
  double special;
  if (LogOfSpecial(x, &special)) return special;
  const Logarithm l = LogParts(x);
  return l.exponent * kLn2High + (l.high + (l.low + l.exponent * kLn2Low));
}

double Log2(double x) {
  double special;
  if (LogOfSpecial(x, &special)) return special;
  const Logarithm l = LogParts(x);
  return l.exponent +
         (l.high * kLog2E64 + (l.low * kLog2E64 + l.high * kLog2E64Low));
}

double Log1p(double x) {
  const double u = 1 + x;
  if (u == 1) return x;
  if (!(u > 0 && u < kInfinity)) return Log(u);
  // Kahan: the error of u is undone by the ratio of the true to the rounded.
  return Log(u) * (x / (u - 1));
}

double Rcp(double x) { return 1 / x; }
double Sqrt(double x) { return std::sqrt(x); }
double Rsqrt(double x) { return 1 / std::sqrt(x); }

double Cbrt(double x) {
  if (x == 0 || x != x || std::fabs(x) == kInfinity) return x;
  double a = std::fabs(x);
  int third = 0;
  if (a < 0x1p-1022) {
    a *= 0x1p54;
    third = -18;
  }
  const int exponent = static_cast<int>(BitCast<uint64_t>(a) >> 52) - 1023;
  const int down = exponent >= 0 ? exponent / 3 : -((2 - exponent) / 3);
  third += down;
  const double m = Scale(a, -3 * down);  // in [1, 8)
  double y = 0.75 + m * 0.1875;
  for (int i = 0; i < 5; ++i) y -= (y * y * y - m) / (3 * y * y);
  return std::copysign(Scale(y, third), x);
}

double Tanh(double x) {
  const double a = std::fabs(x);
  if (!(a < 22)) return x != x ? x : std::copysign(1.0, x);
  const double t = Expm1(2 * a);
  return std::copysign(t / (t + 2), x);
}

double Logistic(double x) { return 1 / (1 + Exp(-x)); }

double Sinh(double x) {
  const double a = std::fabs(x);
  if (a > 709) return std::copysign(ExpSum(a, -0.693147180559945309), x);
  const double t = Expm1(a);
  return std::copysign(0.5 * (t + t / (t + 1)), x);
}

double Cosh(double x) {
  const double a = std::fabs(x);
  if (a > 709) return ExpSum(a, -0.693147180559945309);
  const double e = Exp(a);
  return 0.5 * e + 0.5 / e;
}

double Asinh(double x) {
  const double a = std::fabs(x);
  if (!(a < kInfinity)) return x;
  if (a > 1e150) return std::copysign(Log(a) + 0.693147180559945309, x);
  return std::copysign(Log1p(a + a * a / (1 + std::sqrt(a * a + 1))), x);
}

double Acosh(double x) {
  if (x > 1e150) return Log(x) + 0.693147180559945309;
  if (!(x >= 1)) return kNan;
  const double t = x - 1;
  return Log1p(t + std::sqrt(2 * t + t * t));
}

double Atanh(double x) {
  const double a = std::fabs(x);
  return std::copysign(0.5 * Log1p(2 * a / (1 - a)), x);
}

double Pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return kNan;
  const bool y_is_integer = std::fabs(y) >= 0x1p53 || std::floor(y) == y;
  const bool y_is_odd =
      y_is_integer && std::fabs(y) < 0x1p53 && std::floor(y * 0.5) != y * 0.5;
  const double a = std::fabs(x);
  if (std::fabs(y) == kInfinity) {
    if (a == 1) return 1;
    return (a > 1) == (y > 0) ? kInfinity : 0;
  }
  const bool negative = std::signbit(x) && y_is_odd;
  if (a == 0 || a == kInfinity) {
    const double value = (a == 0) == (y < 0) ? kInfinity : 0.0;
    return negative ? -value : value;
  }
  if (x < 0 && !y_is_integer) return kNan;
  const Logarithm l = LogParts(a);
  // The logarithm as an unevaluated sum of two doubles, then times y.
  const double big = l.exponent * kLn2High;
  double high = big + l.high;
  double low =
      (big == 0 ? 0 : (l.high - (high - big))) + (l.low + l.exponent * kLn2Low);
  const double sum = high + low;
  low = low - (sum - high);
  high = sum;
  constexpr double kSplit = 134217729.0;
  const double hc = high * kSplit;
  const double h1 = hc - (hc - high);
  const double h2 = high - h1;
  const bool huge = std::fabs(y) > 1e290;  // splitting would overflow
  const double yc = y * kSplit;
  const double y1 = huge ? y : yc - (yc - y);
  const double y2 = y - y1;
  const double product = high * y;
  double product_low = 0;
  if (std::fabs(product) < 1e4) {
    product_low = ((h1 * y1 - product) + h1 * y2 + h2 * y1) + h2 * y2 + low * y;
  }
  const double value = ExpSum(product, product_low);
  return negative ? -value : value;
}

}  // namespace ptxla::numerics
