// Where an operand of a product comes from, as its kernel sees it.
//
//   ASSIGN_OR_RETURN(OperandSource s, SourceOfOperand(dot, 0, true));
//   s.arg     // 2: the fusion's third operand, perhaps converted on the way
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_OPERAND_SOURCE_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_OPERAND_SOURCE_H_

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::lowering {

struct OperandSource {
  int arg = -1;                             // of the kernel, or …
  const hlo::Instruction* value = nullptr;  // … computed inside of the fusion
  const hlo::Instruction* sliced =
      nullptr;  // the members that it has of an array
  // Of a matrix that members share: its own batch dimensions, or -1.
  int own_batch = -1;
  const hlo::Shape* shape = nullptr;  // of what is read
};

// Of operand `o` of `dot`, which is a kernel or in one that is a fusion.
// Unimplemented: types that no product has, operands of less than 16 bits that
// are computed, computed ones that members share.
absl::StatusOr<OperandSource> SourceOfOperand(const hlo::Instruction& dot,
                                              int o, bool in_fusion);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_OPERAND_SOURCE_H_
