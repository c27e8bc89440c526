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

// Calls a recipe for the chips before v6e (kNewton) or from it on.
template <bool kNewton, float (Recipes::*kRecipe)(float)>
struct Unary {
  float operator()(float x) const {
    FloatOps ops;
    return (Recipes(ops, numerics::EupOfGeneration(kNewton ? 5 : 6)).*
            kRecipe)(x);
  }
};
template <bool kNewton, float (Recipes::*kRecipe)(float, float)>
struct Binary {
  float operator()(float x, float y) const {
    FloatOps ops;
    return (Recipes(ops, numerics::EupOfGeneration(kNewton ? 5 : 6)).*kRecipe)(
        x, y);
  }
};

template <bool kNewton>
Kernel KernelOf(Opcode opcode) {
  switch (opcode) {
#define PTXLA_X(code, recipe) \
  case Opcode::code:          \
    return internal::UnaryLoop<float, float, Unary<kNewton, &Recipes::recipe>>;
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
      return internal::BinaryLoop<float, float,
                                  Binary<kNewton, &Recipes::Divide>>;
    case Opcode::kPower:
      return internal::BinaryLoop<float, float,
                                  Binary<kNewton, &Recipes::Power>>;
    default:
      return nullptr;
  }
}

}  // namespace

Kernel TpuFloatKernel(Opcode opcode, int generation) {
  return generation < 6 ? KernelOf<true>(opcode) : KernelOf<false>(opcode);
}

}  // namespace ptxla::hlo
