// Operations whose sizes are operands, as those whose sizes are attributes:
// when the operands are constants.
//
//   dynamic_iota %shape, dim = 0          with %shape = dense<[3, 4]>
//   iota dim = 0 : tensor<3x4xf32>
#ifndef PTXLA_HLO_BACKEND_STABLEHLO_STATIC_FORMS_H_
#define PTXLA_HLO_BACKEND_STABLEHLO_STATIC_FORMS_H_

#include <optional>
#include <vector>

#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/stablehlo/mlir.h"

namespace ptxla::hlo::mlir {

// False for most operations: their operands need not be looked at.
bool MayBeDynamic(const Op& op);

// `operands` are those of `op`. Nothing if it is no such operation, or an
// operand that says a size is no constant.
std::optional<Op> StaticForm(const Op& op,
                             const std::vector<Instruction*>& operands);

}  // namespace ptxla::hlo::mlir

#endif  // PTXLA_HLO_BACKEND_STABLEHLO_STATIC_FORMS_H_
