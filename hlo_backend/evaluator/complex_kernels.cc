#include <cmath>
#include <complex>

#include "base/numerics/transcendental.h"
#include "base/numerics/transcendental64.h"
#include "hlo_backend/evaluator/kernel_loops.h"
#include "hlo_backend/evaluator/kernels.h"

// std::complex's own functions call libm, and its operator* may; these spell
// the formulas out, in double for c64.
namespace ptxla::hlo {
namespace {

using internal::BinaryLoop;
using internal::UnaryLoop;
using Z = std::complex<double>;

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
double Abs(Z x) {
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
Z Rsqrt(Z x) { return Divide(1, Sqrt(x)); }
Z Expm1(Z x) {
  // exp(a) cos(b) - 1 = expm1(a) cos(b) + (cos(b) - 1)
  const double s = numerics::Sin(0.5 * x.imag());
  return {numerics::Expm1(x.real()) * numerics::Cos(x.imag()) - 2 * s * s,
          numerics::Exp(x.real()) * numerics::Sin(x.imag())};
}
Z Log1p(Z x) { return Log(x + 1.0); }

template <class T, Z (*kFunction)(Z)>
struct UnaryFn {
  std::complex<T> operator()(std::complex<T> x) const {
    const Z z = kFunction(Z(x.real(), x.imag()));
    return {static_cast<T>(z.real()), static_cast<T>(z.imag())};
  }
};
template <class T, Z (*kFunction)(Z, Z)>
struct BinaryFn {
  std::complex<T> operator()(std::complex<T> x, std::complex<T> y) const {
    const Z z = kFunction(Z(x.real(), x.imag()), Z(y.real(), y.imag()));
    return {static_cast<T>(z.real()), static_cast<T>(z.imag())};
  }
};
template <class T>
struct AbsFn {
  T operator()(std::complex<T> x) const {
    return static_cast<T>(Abs(Z(x.real(), x.imag())));
  }
};
struct RealFn {
  template <class C>
  auto operator()(C x) const {
    return x.real();
  }
};
struct ImagFn {
  template <class C>
  auto operator()(C x) const {
    return x.imag();
  }
};
struct NegateFn {
  template <class C>
  C operator()(C x) const {
    return -x;
  }
};
struct AddFn {
  template <class C>
  C operator()(C x, C y) const {
    return x + y;
  }
};
struct SubtractFn {
  template <class C>
  C operator()(C x, C y) const {
    return x - y;
  }
};

template <class T>
Kernel KernelOf(Opcode opcode, const KernelConfig& config) {
  using C = std::complex<T>;
  switch (opcode) {
    case Opcode::kAdd:
      return BinaryLoop<C, C, AddFn>;
    case Opcode::kSubtract:
      return BinaryLoop<C, C, SubtractFn>;
    case Opcode::kMultiply:
      return BinaryLoop<C, C, BinaryFn<T, Multiply>>;
    case Opcode::kDivide:
      return BinaryLoop<C, C, BinaryFn<T, Divide>>;
    case Opcode::kPower:
      return BinaryLoop<C, C, BinaryFn<T, Power>>;
    case Opcode::kNegate:
      return UnaryLoop<C, C, NegateFn>;
    case Opcode::kAbs:
      return UnaryLoop<C, T, AbsFn<T>>;
    case Opcode::kReal:
      return UnaryLoop<C, T, RealFn>;
    case Opcode::kImag:
      return UnaryLoop<C, T, ImagFn>;
    case Opcode::kExp:
      return UnaryLoop<C, C, UnaryFn<T, Exp>>;
    case Opcode::kExpm1:
      return UnaryLoop<C, C, UnaryFn<T, Expm1>>;
    case Opcode::kLog:
      return UnaryLoop<C, C, UnaryFn<T, Log>>;
    case Opcode::kLog1p:
      return UnaryLoop<C, C, UnaryFn<T, Log1p>>;
    case Opcode::kSqrt:
      return UnaryLoop<C, C, UnaryFn<T, Sqrt>>;
    case Opcode::kRsqrt:
      return UnaryLoop<C, C, UnaryFn<T, Rsqrt>>;
    case Opcode::kTanh:
      return UnaryLoop<C, C, UnaryFn<T, Tanh>>;
    case Opcode::kSin:
      return UnaryLoop<C, C, UnaryFn<T, Sine>>;
    case Opcode::kCos:
      return UnaryLoop<C, C, UnaryFn<T, Cosine>>;
    case Opcode::kTan:
      return UnaryLoop<C, C, UnaryFn<T, Tan>>;
    case Opcode::kSign:
      return UnaryLoop<C, C, UnaryFn<T, Sign>>;
    case Opcode::kLogistic:
      return UnaryLoop<C, C, UnaryFn<T, Logistic>>;
    case Opcode::kCompare:
      if (config.direction == CompareDirection::kEq) {
        return BinaryLoop<C, uint8_t, internal::Eq>;
      }
      if (config.direction == CompareDirection::kNe) {
        return BinaryLoop<C, uint8_t, internal::Ne>;
      }
      return nullptr;
    default:
      return nullptr;
  }
}

struct PartsFn {
  template <class T>
  std::complex<T> operator()(T x, T y) const {
    return {x, y};
  }
};

}  // namespace

Kernel ComplexFromPartsKernel(PrimitiveType part) {
  if (part == PrimitiveType::kF32) {
    return BinaryLoop<float, std::complex<float>, PartsFn>;
  }
  return BinaryLoop<double, std::complex<double>, PartsFn>;
}

Kernel ComplexKernel(Opcode opcode, PrimitiveType type, const KernelConfig& c) {
  if (type == PrimitiveType::kC64) return KernelOf<float>(opcode, c);
  if (type == PrimitiveType::kC128) return KernelOf<double>(opcode, c);
  return nullptr;
}

}  // namespace ptxla::hlo
