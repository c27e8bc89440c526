#include "base/numerics/transcendental.h"

#include <cmath>

#include "base/numerics/transcendental64.h"

namespace ptxla::numerics {

// A double result with an error of a few units in its last place is, rounded
// to float, the correctly rounded value but for about one case in 2^26.
float Exp2(float x) { return static_cast<float>(Exp2(static_cast<double>(x))); }
float Log2(float x) { return static_cast<float>(Log2(static_cast<double>(x))); }
float Tanh(float x) { return static_cast<float>(Tanh(static_cast<double>(x))); }
float Erf(float x) { return static_cast<float>(Erf(static_cast<double>(x))); }
float Sin(float x) { return static_cast<float>(Sin(static_cast<double>(x))); }
float Cos(float x) { return static_cast<float>(Cos(static_cast<double>(x))); }
float Exp(float x) { return static_cast<float>(Exp(static_cast<double>(x))); }
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
