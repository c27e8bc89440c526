#include <cmath>
#include <limits>

#include "base/numerics/bits.h"
#include "base/numerics/float_formats.h"
#include "base/numerics/transcendental.h"
#include "base/numerics/transcendental64.h"
#include "hlo_backend/evaluator/kernel_loops.h"
#include "hlo_backend/evaluator/kernels.h"

namespace ptxla::hlo {
namespace {

using internal::BinaryLoop;
using internal::TernaryLoop;
using internal::UnaryLoop;

// A function object for the function `numerics::Name` on floats and doubles.
#define PTXLA_FUNCTION(Name)    \
  struct Name##Fn {             \
    template <class T>          \
    T operator()(T x) const {   \
      return numerics::Name(x); \
    }                           \
  };
PTXLA_FUNCTION(Cos)
PTXLA_FUNCTION(Cbrt)
PTXLA_FUNCTION(Cosh)
PTXLA_FUNCTION(Erf)
PTXLA_FUNCTION(Exp)
PTXLA_FUNCTION(Expm1)
PTXLA_FUNCTION(Log)
PTXLA_FUNCTION(Log1p)
PTXLA_FUNCTION(Logistic)
PTXLA_FUNCTION(Rsqrt)
PTXLA_FUNCTION(Sin)
PTXLA_FUNCTION(Sinh)
PTXLA_FUNCTION(Sqrt)
PTXLA_FUNCTION(Tan)
PTXLA_FUNCTION(Tanh)
PTXLA_FUNCTION(Acos)
PTXLA_FUNCTION(Acosh)
PTXLA_FUNCTION(Asin)
PTXLA_FUNCTION(Asinh)
PTXLA_FUNCTION(Atanh)
#undef PTXLA_FUNCTION

// An operator written inline.
#define PTXLA_UNARY(Name, expression) \
  struct Name##Fn {                   \
    template <class T>                \
    T operator()(T x) const {         \
      return expression;              \
    }                                 \
  };
#define PTXLA_BINARY(Name, expression) \
  struct Name##Fn {                    \
    template <class T>                 \
    T operator()(T x, T y) const {     \
      return expression;               \
    }                                  \
  };
PTXLA_UNARY(Abs, std::fabs(x))
PTXLA_UNARY(Negate, -x)
PTXLA_UNARY(Floor, std::floor(x))
PTXLA_UNARY(Ceil, std::ceil(x))
PTXLA_UNARY(RoundAfz, std::round(x))
PTXLA_UNARY(Identity, x)
PTXLA_UNARY(Zero, (static_cast<void>(x), T(0)))
PTXLA_UNARY(Sign, x > 0 ? T(1) : (x < 0 ? T(-1) : x))
PTXLA_BINARY(Add, x + y)
PTXLA_BINARY(Subtract, x - y)
PTXLA_BINARY(Multiply, x* y)
PTXLA_BINARY(Divide, x / y)
PTXLA_BINARY(Remainder, std::fmod(x, y))
PTXLA_BINARY(Power, numerics::Pow(x, y))
PTXLA_BINARY(Atan2, numerics::Atan2(x, y))
// A NaN on either side is the result.
PTXLA_BINARY(Maximum, (x >= y || x != x) ? x : y)
PTXLA_BINARY(Minimum, (x <= y || x != x) ? x : y)
#undef PTXLA_UNARY
#undef PTXLA_BINARY

// std::nearbyint without its dependence on the rounding mode.
struct RoundEvenFn {
  template <class T>
  T operator()(T x) const {
    constexpr T kBig = T(1) / std::numeric_limits<T>::epsilon();
    const T a = std::fabs(x);
    if (!(a < kBig)) return x;
    return std::copysign((a + kBig) - kBig, x);
  }
};
struct IsFiniteFn {
  template <class T>
  uint8_t operator()(T x) const {
    return x - x == T(0);
  }
};
struct ClampFn {
  template <class T>
  T operator()(T low, T x, T high) const {
    return MinimumFn{}(MaximumFn{}(x, low), high);
  }
};

template <class T>
void ReducePrecisionLoop(const KernelArgs& args) {
  const T* a = static_cast<const T*>(args.in[0]);
  T* out = static_cast<T*>(args.out);
  for (int64_t i = 0; i < args.n; ++i) {
    out[i] = numerics::ReducePrecision(a[args.splat[0] ? 0 : i],
                                       args.exponent_bits, args.mantissa_bits);
  }
}

// -NaN < -inf < -0 < +0 < inf < NaN: the order of sign-magnitude bits.
template <class T, class Bits>
Bits TotalOrderKey(T x) {
  const Bits bits = numerics::BitCast<Bits>(x);
  return bits < 0 ? static_cast<Bits>(bits ^ std::numeric_limits<Bits>::max())
                  : bits;
}

template <class T, class Bits, class F>
struct TotalOrder {
  uint8_t operator()(T x, T y) const {
    return F{}(TotalOrderKey<T, Bits>(x), TotalOrderKey<T, Bits>(y));
  }
};

template <class T, class Bits>
Kernel TotalOrderKernel(CompareDirection direction) {
  switch (direction) {
    case CompareDirection::kEq:
      return BinaryLoop<T, uint8_t, TotalOrder<T, Bits, internal::Eq>>;
    case CompareDirection::kNe:
      return BinaryLoop<T, uint8_t, TotalOrder<T, Bits, internal::Ne>>;
    case CompareDirection::kLt:
      return BinaryLoop<T, uint8_t, TotalOrder<T, Bits, internal::Lt>>;
    case CompareDirection::kLe:
      return BinaryLoop<T, uint8_t, TotalOrder<T, Bits, internal::Le>>;
    case CompareDirection::kGt:
      return BinaryLoop<T, uint8_t, TotalOrder<T, Bits, internal::Gt>>;
    case CompareDirection::kGe:
      return BinaryLoop<T, uint8_t, TotalOrder<T, Bits, internal::Ge>>;
  }
  return nullptr;
}

template <class T, class Bits>
Kernel KernelOf(Opcode opcode, const KernelConfig& config) {
  switch (opcode) {
    case Opcode::kCos:
      return UnaryLoop<T, T, CosFn>;
    case Opcode::kCbrt:
      return UnaryLoop<T, T, CbrtFn>;
    case Opcode::kCosh:
      return UnaryLoop<T, T, CoshFn>;
    case Opcode::kErf:
      return UnaryLoop<T, T, ErfFn>;
    case Opcode::kExp:
      return UnaryLoop<T, T, ExpFn>;
    case Opcode::kExpm1:
      return UnaryLoop<T, T, Expm1Fn>;
    case Opcode::kLog:
      return UnaryLoop<T, T, LogFn>;
    case Opcode::kLog1p:
      return UnaryLoop<T, T, Log1pFn>;
    case Opcode::kLogistic:
      return UnaryLoop<T, T, LogisticFn>;
    case Opcode::kRsqrt:
      return UnaryLoop<T, T, RsqrtFn>;
    case Opcode::kSin:
      return UnaryLoop<T, T, SinFn>;
    case Opcode::kSinh:
      return UnaryLoop<T, T, SinhFn>;
    case Opcode::kSqrt:
      return UnaryLoop<T, T, SqrtFn>;
    case Opcode::kTan:
      return UnaryLoop<T, T, TanFn>;
    case Opcode::kTanh:
      return UnaryLoop<T, T, TanhFn>;
    case Opcode::kAcos:
      return UnaryLoop<T, T, AcosFn>;
    case Opcode::kAcosh:
      return UnaryLoop<T, T, AcoshFn>;
    case Opcode::kAsin:
      return UnaryLoop<T, T, AsinFn>;
    case Opcode::kAsinh:
      return UnaryLoop<T, T, AsinhFn>;
    case Opcode::kAtanh:
      return UnaryLoop<T, T, AtanhFn>;
    case Opcode::kAbs:
      return UnaryLoop<T, T, AbsFn>;
    case Opcode::kNegate:
      return UnaryLoop<T, T, NegateFn>;
    case Opcode::kFloor:
      return UnaryLoop<T, T, FloorFn>;
    case Opcode::kCeil:
      return UnaryLoop<T, T, CeilFn>;
    case Opcode::kRoundNearestAfz:
      return UnaryLoop<T, T, RoundAfzFn>;
    case Opcode::kRoundNearestEven:
      return UnaryLoop<T, T, RoundEvenFn>;
    case Opcode::kSign:
      return UnaryLoop<T, T, SignFn>;
    case Opcode::kReal:
      return UnaryLoop<T, T, IdentityFn>;
    case Opcode::kImag:
      return UnaryLoop<T, T, ZeroFn>;
    case Opcode::kAdd:
      return BinaryLoop<T, T, AddFn>;
    case Opcode::kSubtract:
      return BinaryLoop<T, T, SubtractFn>;
    case Opcode::kMultiply:
      return BinaryLoop<T, T, MultiplyFn>;
    case Opcode::kDivide:
      return BinaryLoop<T, T, DivideFn>;
    case Opcode::kRemainder:
      return BinaryLoop<T, T, RemainderFn>;
    case Opcode::kPower:
      return BinaryLoop<T, T, PowerFn>;
    case Opcode::kAtan2:
      return BinaryLoop<T, T, Atan2Fn>;
    case Opcode::kMaximum:
      return BinaryLoop<T, T, MaximumFn>;
    case Opcode::kMinimum:
      return BinaryLoop<T, T, MinimumFn>;
    case Opcode::kIsFinite:
      return UnaryLoop<T, uint8_t, IsFiniteFn>;
    case Opcode::kClamp:
      return TernaryLoop<T, ClampFn>;
    case Opcode::kReducePrecision:
      return ReducePrecisionLoop<T>;
    case Opcode::kCompare:
      return config.total_order ? TotalOrderKernel<T, Bits>(config.direction)
                                : internal::CompareKernel<T>(config.direction);
    default:
      return nullptr;
  }
}

}  // namespace

Kernel FloatKernel(Opcode opcode, PrimitiveType type, const KernelConfig& c) {
  if (type == PrimitiveType::kF32) {
    if (c.tpu_generation > 0) {
      if (Kernel kernel = TpuFloatKernel(opcode, c.tpu_generation))
        return kernel;
    }
    return KernelOf<float, int32_t>(opcode, c);
  }
  if (type == PrimitiveType::kF64) return KernelOf<double, int64_t>(opcode, c);
  return nullptr;
}

}  // namespace ptxla::hlo
