#include <complex>

#include "hlo_backend/evaluator/complex_functions.h"
#include "hlo_backend/evaluator/kernel_loops.h"
#include "hlo_backend/evaluator/kernels.h"

namespace ptxla::hlo {
namespace {

using complex_functions::Z;
using internal::BinaryLoop;
using internal::UnaryLoop;

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
    return static_cast<T>(complex_functions::Abs(Z(x.real(), x.imag())));
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
      return BinaryLoop<C, C, BinaryFn<T, complex_functions::Multiply>>;
    case Opcode::kDivide:
      return BinaryLoop<C, C, BinaryFn<T, complex_functions::Divide>>;
    case Opcode::kPower:
      return BinaryLoop<C, C, BinaryFn<T, complex_functions::Power>>;
    case Opcode::kNegate:
      return UnaryLoop<C, C, NegateFn>;
    case Opcode::kAbs:
      return UnaryLoop<C, T, AbsFn<T>>;
    case Opcode::kReal:
      return UnaryLoop<C, T, RealFn>;
    case Opcode::kImag:
      return UnaryLoop<C, T, ImagFn>;
    case Opcode::kExp:
      return UnaryLoop<C, C, UnaryFn<T, complex_functions::Exp>>;
    case Opcode::kExpm1:
      return UnaryLoop<C, C, UnaryFn<T, complex_functions::Expm1>>;
    case Opcode::kLog:
      return UnaryLoop<C, C, UnaryFn<T, complex_functions::Log>>;
    case Opcode::kLog1p:
      return UnaryLoop<C, C, UnaryFn<T, complex_functions::Log1p>>;
    case Opcode::kSqrt:
      return UnaryLoop<C, C, UnaryFn<T, complex_functions::Sqrt>>;
    case Opcode::kRsqrt:
      return UnaryLoop<C, C, UnaryFn<T, complex_functions::Rsqrt>>;
    case Opcode::kTanh:
      return UnaryLoop<C, C, UnaryFn<T, complex_functions::Tanh>>;
    case Opcode::kSin:
      return UnaryLoop<C, C, UnaryFn<T, complex_functions::Sine>>;
    case Opcode::kCos:
      return UnaryLoop<C, C, UnaryFn<T, complex_functions::Cosine>>;
    case Opcode::kAcos:
      return UnaryLoop<C, C, UnaryFn<T, complex_functions::Acos>>;
    case Opcode::kAcosh:
      return UnaryLoop<C, C, UnaryFn<T, complex_functions::Acosh>>;
    case Opcode::kAsin:
      return UnaryLoop<C, C, UnaryFn<T, complex_functions::Asin>>;
    case Opcode::kAsinh:
      return UnaryLoop<C, C, UnaryFn<T, complex_functions::Asinh>>;
    case Opcode::kAtanh:
      return UnaryLoop<C, C, UnaryFn<T, complex_functions::Atanh>>;
    case Opcode::kSinh:
      return UnaryLoop<C, C, UnaryFn<T, complex_functions::Sinh>>;
    case Opcode::kCosh:
      return UnaryLoop<C, C, UnaryFn<T, complex_functions::Cosh>>;
    case Opcode::kAtan2:
      return BinaryLoop<C, C, BinaryFn<T, complex_functions::Atan2>>;
    case Opcode::kTan:
      return UnaryLoop<C, C, UnaryFn<T, complex_functions::Tan>>;
    case Opcode::kSign:
      return UnaryLoop<C, C, UnaryFn<T, complex_functions::Sign>>;
    case Opcode::kLogistic:
      return UnaryLoop<C, C, UnaryFn<T, complex_functions::Logistic>>;
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
