// An operand of a dot with its dimensions by role, for passes that change
// operands and roles together.
//
//   DotSide lhs{x, /*batch=*/{0}, /*contracting=*/{2}};   // x: [8,64,32]
//   lhs.free()                                            // {1}
//   DotOf(dot, lhs, rhs, type)                            // [8,64,...]
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_DOT_SIDE_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_DOT_SIDE_H_

#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/passes/dimension_utils.h"

namespace ptxla::hlo {

struct DotSide {
  Instruction* operand;
  DimVector batch, contracting;

  DimVector free() const {
    return Others(operand->shape().rank(), batch, contracting);
  }
};

// A dot of both, beside `dot` and with its other attributes. Its dimensions:
// batch, free of the left, free of the right operand.
Instruction* DotOf(const Instruction& dot, const DotSide& lhs,
                   const DotSide& rhs, PrimitiveType type);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_DOT_SIDE_H_
