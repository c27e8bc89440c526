#include "base/numerics/transcendental.h"

#include <cmath>

#include "base/numerics/bits.h"
#include "base/numerics/transcendental64.h"

namespace ptxla::numerics {
namespace {

// 2^x in double for |x| < 1100: nearest integer and a polynomial for the rest,
// relative error below 2^-37.
double FastExp2(double x) {
  constexpr double kShift = 0x1.8p52;
  const double k = (x + kShift) - kShift;
  const double r = (x - k) * 0x1.62e42fefa39efp-1;  // |r| <= ln(2) / 2
  double sum = 1.0 / 362880;
  sum = sum * r + 1.0 / 40320;
  sum = sum * r + 1.0 / 5040;
  sum = sum * r + 1.0 / 720;
  sum = sum * r + 1.0 / 120;
  sum = sum * r + 1.0 / 24;
  sum = sum * r + 1.0 / 6;
  sum = sum * r + 0.5;
  sum = sum * r + 1.0;
  sum = sum * r + 1.0;
  const int64_t exponent = static_cast<int64_t>(k) + 1023;
  return sum * BitCast<double>(static_cast<uint64_t>(exponent) << 52);
}

}  // namespace

// Beyond these limits the result rounds to 0 or infinity as a float.
float Exp2(float x) {
  if (!(x < 128.0f)) return x != x ? x : HUGE_VALF;
  if (x < -150.0f) return 0;
  return static_cast<float>(FastExp2(x));
}

float Exp(float x) {
  if (!(x < 89.0f)) return x != x ? x : HUGE_VALF;
  if (x < -104.0f) return 0;
  // The product is good to 2^-52 of at most 150: enough for a float.
  return static_cast<float>(
      FastExp2(static_cast<double>(x) * 0x1.71547652b82fep+0));
}

// A double result with an error of a few units in its last place is, rounded
// to float, the correctly rounded value but for about one case in 2^26.
float Log2(float x) { return static_cast<float>(Log2(static_cast<double>(x))); }
float Tanh(float x) { return static_cast<float>(Tanh(static_cast<double>(x))); }
float Erf(float x) { return static_cast<float>(Erf(static_cast<double>(x))); }
float Sin(float x) { return static_cast<float>(Sin(static_cast<double>(x))); }
float Cos(float x) { return static_cast<float>(Cos(static_cast<double>(x))); }
float Expm1(float x) {
  return static_cast<float>(Expm1(static_cast<double>(x)));
}
float Log(float x) { return static_cast<float>(Log(static_cast<double>(x))); }
float Log1p(float x) {
  return static_cast<float>(Log1p(static_cast<double>(x)));
}
float Cbrt(float x) { return static_cast<float>(Cbrt(static_cast<double>(x))); }
float Logistic(float x) {
  return static_cast<float>(Logistic(static_cast<double>(x)));
}
float Sigmoid(float x) {
  return static_cast<float>(Logistic(2 * static_cast<double>(x)));
}
float Tan(float x) { return static_cast<float>(Tan(static_cast<double>(x))); }
float Asin(float x) { return static_cast<float>(Asin(static_cast<double>(x))); }
float Acos(float x) { return static_cast<float>(Acos(static_cast<double>(x))); }
float Sinh(float x) { return static_cast<float>(Sinh(static_cast<double>(x))); }
float Cosh(float x) { return static_cast<float>(Cosh(static_cast<double>(x))); }
float Asinh(float x) {
  return static_cast<float>(Asinh(static_cast<double>(x)));
}
float Acosh(float x) {
  return static_cast<float>(Acosh(static_cast<double>(x)));
}
float Atanh(float x) {
  return static_cast<float>(Atanh(static_cast<double>(x)));
}

float Pow(float x, float y) {
  return static_cast<float>(
      Pow(static_cast<double>(x), static_cast<double>(y)));
}
float Atan2(float y, float x) {
  return static_cast<float>(
      Atan2(static_cast<double>(y), static_cast<double>(x)));
}
float Rcp(float x) { return 1.0f / x; }
float Sqrt(float x) { return std::sqrt(x); }
float Rsqrt(float x) {
  return static_cast<float>(1 / std::sqrt(static_cast<double>(x)));
}

}  // namespace ptxla::numerics
