#include "hlo_backend/evaluator/complex_functions.h"

#include <cmath>
#include <limits>

#include "base/numerics/transcendental64.h"

namespace ptxla::hlo::complex_functions {

Z Multiply(Z x, Z y) {
  return {x.real() * y.real() - x.imag() * y.imag(),
          x.real() * y.imag() + x.imag() * y.real()};
}
Z Divide(Z x, Z y) {
  // Scaled, so that |y|^2 does not overflow.
  const double scale = std::fmax(std::fabs(y.real()), std::fabs(y.imag()));
  if (scale == 0 || !(scale < HUGE_VAL)) {
    const double d = y.real() * y.real() + y.imag() * y.imag();
    const Z n = Multiply(x, std::conj(y));
    return {n.real() / d, n.imag() / d};
  }
  const Z s(y.real() / scale, y.imag() / scale);
  const double d = (s.real() * s.real() + s.imag() * s.imag()) * scale;
  const Z n = Multiply(x, std::conj(s));
  return {n.real() / d, n.imag() / d};
}
// XLA's: NaN where a part is, even beside an infinity.
double Abs(Z x) {
  if (std::isnan(x.real()) || std::isnan(x.imag())) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double a = std::fmax(std::fabs(x.real()), std::fabs(x.imag()));
  const double b = std::fmin(std::fabs(x.real()), std::fabs(x.imag()));
  if (a == 0 || a == HUGE_VAL) return a;
  const double r = b / a;
  return a * std::sqrt(1 + r * r);
}
Z Exp(Z x) {
  const double e = numerics::Exp(x.real());
  if (x.imag() == 0) return {e, x.imag()};
  return {e * numerics::Cos(x.imag()), e * numerics::Sin(x.imag())};
}
Z Log(Z x) {
  return {numerics::Log(Abs(x)), numerics::Atan2(x.imag(), x.real())};
}
Z Sqrt(Z x) {
  const double r = Abs(x);
  if (r == 0) return {0, x.imag()};
  if (std::isinf(x.imag())) return {r, x.imag()};
  const double half = std::sqrt(0.5 * (r + std::fabs(x.real())));
  const double other = std::fabs(x.imag()) / (2 * half);
  return x.real() >= 0 ? Z(half, std::copysign(other, x.imag()))
                       : Z(other, std::copysign(half, x.imag()));
}
Z Power(Z x, Z y) {
  if (x == Z(0)) return y == Z(0) ? Z(1) : Z(0);
  return Exp(Multiply(y, Log(x)));
}
Z Tanh(Z x) {
  // tanh(a + ib) = (sinh 2a + i sin 2b) / (cosh 2a + cos 2b)
  if (std::fabs(x.real()) > 300) {
    return {std::copysign(1.0, x.real()), 0};
  }
  const double d = numerics::Cosh(2 * x.real()) + numerics::Cos(2 * x.imag());
  return {numerics::Sinh(2 * x.real()) / d, numerics::Sin(2 * x.imag()) / d};
}
Z Sine(Z x) {
  return {numerics::Sin(x.real()) * numerics::Cosh(x.imag()),
          numerics::Cos(x.real()) * numerics::Sinh(x.imag())};
}
Z Cosine(Z x) {
  return {numerics::Cos(x.real()) * numerics::Cosh(x.imag()),
          -numerics::Sin(x.real()) * numerics::Sinh(x.imag())};
}
// -i tanh(ix), which stays finite far from the real axis.
Z Tan(Z x) {
  const Z t = Tanh(Z(-x.imag(), x.real()));
  return {t.imag(), -t.real()};
}
Z Sign(Z x) {
  const double r = Abs(x);
  return r == 0 ? Z(0) : Z(x.real() / r, x.imag() / r);
}
Z Logistic(Z x) { return Divide(1, Exp(-x) + 1.0); }
Z Rsqrt(Z x) {
  // At zero, whose direction nothing says, XLA's length is infinite.
  if (x == Z(0)) {
    return {std::numeric_limits<double>::infinity(),
            std::numeric_limits<double>::quiet_NaN()};
  }
  if (std::isinf(x.real()) || std::isinf(x.imag())) {
    return {std::copysign(0.0, x.real()), -std::copysign(0.0, x.imag())};
  }
  return Divide(1, Sqrt(x));
}
Z Expm1(Z x) {
  // exp(a) cos(b) - 1 = expm1(a) cos(b) + (cos(b) - 1)
  const double s = numerics::Sin(0.5 * x.imag());
  return {numerics::Expm1(x.real()) * numerics::Cos(x.imag()) - 2 * s * s,
          numerics::Exp(x.real()) * numerics::Sin(x.imag())};
}
Z Log1p(Z x) { return Log(x + 1.0); }

Z Sinh(Z x) {
  return {numerics::Sinh(x.real()) * numerics::Cos(x.imag()),
          numerics::Cosh(x.real()) * numerics::Sin(x.imag())};
}
Z Cosh(Z x) {
  return {numerics::Cosh(x.real()) * numerics::Cos(x.imag()),
          numerics::Sinh(x.real()) * numerics::Sin(x.imag())};
}
Z Atan2(Z y, Z x) {
  const Z iy(-y.imag(), y.real());
  const Z length = Sqrt(Multiply(x, x) + Multiply(y, y));
  const Z l = Log(Divide(x + iy, length));
  return {l.imag(), -l.real()};
}

// The inverse functions as W. Kahan gives them ("Branch cuts for complex
// elementary functions", 1987): no cancellation near 0 nor at the cuts.
Z Asin(Z x) {
  const Z below = Sqrt(1.0 - x);
  const Z above = Sqrt(1.0 + x);
  return {numerics::Atan2(x.real(), Multiply(below, above).real()),
          numerics::Asinh(Multiply(std::conj(below), above).imag())};
}
Z Acos(Z x) {
  const Z below = Sqrt(1.0 - x);
  const Z above = Sqrt(1.0 + x);
  return {2 * numerics::Atan2(below.real(), above.real()),
          numerics::Asinh(Multiply(std::conj(above), below).imag())};
}
Z Asinh(Z x) {
  const Z z = Asin(Z(-x.imag(), x.real()));
  return {z.imag(), -z.real()};
}
Z Acosh(Z x) {
  const Z below = Sqrt(x - 1.0);
  const Z above = Sqrt(x + 1.0);
  return {numerics::Asinh(Multiply(std::conj(below), above).real()),
          2 * numerics::Atan2(below.imag(), above.real())};
}
Z Atanh(Z x) {
  const double a = x.real();
  const double b = x.imag();
  const double from_one = (1 - a) * (1 - a) + b * b;
  return {0.25 * numerics::Log1p(4 * a / from_one),
          0.5 * numerics::Atan2(2 * b, (1 - a) * (1 + a) - b * b)};
}

}  // namespace ptxla::hlo::complex_functions
