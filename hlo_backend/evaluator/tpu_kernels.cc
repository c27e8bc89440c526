#include "base/numerics/float_ops.h"
#include "base/numerics/recipes.h"
#include "hlo_backend/evaluator/kernel_loops.h"
#include "hlo_backend/evaluator/kernels.h"

// GCC 12 at -O1 does not instantiate members that are only template arguments.
template class ptxla::numerics::Recipes<ptxla::numerics::FloatOps>;

namespace ptxla::hlo {
namespace {

using numerics::FloatOps;
using Recipes = numerics::Recipes<FloatOps>;

// Function objects that call a recipe for the chips before v6e (kNewton) or
// from it on.
#define PTXLA_UNARY(Name)                                                      \
  template <bool kNewton>                                                      \
  struct Name##Fn {                                                            \
    float operator()(float x) const {                                          \
      FloatOps ops;                                                            \
      return Recipes(ops, numerics::EupOfGeneration(kNewton ? 5 : 6)).Name(x); \
    }                                                                          \
  };
#define PTXLA_BINARY(Name)                                            \
  template <bool kNewton>                                             \
  struct Name##Fn {                                                   \
    float operator()(float x, float y) const {                        \
      FloatOps ops;                                                   \
      return Recipes(ops, numerics::EupOfGeneration(kNewton ? 5 : 6)) \
          .Name(x, y);                                                \
    }                                                                 \
  };
PTXLA_UNARY(Exp)
PTXLA_UNARY(Expm1)
PTXLA_UNARY(Log)
PTXLA_UNARY(Log1p)
PTXLA_UNARY(Tanh)
PTXLA_UNARY(Rsqrt)
PTXLA_UNARY(Sqrt)
PTXLA_UNARY(Logistic)
PTXLA_UNARY(Erf)
PTXLA_UNARY(Sin)
PTXLA_UNARY(Cos)
PTXLA_UNARY(Cbrt)
PTXLA_BINARY(Divide)
PTXLA_BINARY(Power)
#undef PTXLA_UNARY
#undef PTXLA_BINARY

template <bool kNewton>
Kernel KernelOf(Opcode opcode) {
  switch (opcode) {
#define PTXLA_X(code, Name) \
  case Opcode::code:        \
    return internal::UnaryLoop<float, float, Name##Fn<kNewton>>;
    PTXLA_X(kExp, Exp)
    PTXLA_X(kExpm1, Expm1)
    PTXLA_X(kLog, Log)
    PTXLA_X(kLog1p, Log1p)
    PTXLA_X(kTanh, Tanh)
    PTXLA_X(kRsqrt, Rsqrt)
    PTXLA_X(kSqrt, Sqrt)
    PTXLA_X(kLogistic, Logistic)
    PTXLA_X(kErf, Erf)
    PTXLA_X(kSin, Sin)
    PTXLA_X(kCos, Cos)
    PTXLA_X(kCbrt, Cbrt)
#undef PTXLA_X
    case Opcode::kDivide:
      return internal::BinaryLoop<float, float, DivideFn<kNewton>>;
    case Opcode::kPower:
      return internal::BinaryLoop<float, float, PowerFn<kNewton>>;
    default:
      return nullptr;
  }
}

}  // namespace

Kernel TpuFloatKernel(Opcode opcode, int generation) {
  return generation < 6 ? KernelOf<true>(opcode) : KernelOf<false>(opcode);
}

}  // namespace ptxla::hlo
