// What the compiler writes on a sort: which operand counts along the sorted
// dimension, so that it tells equal elements apart.
//
//   SetSortTieOperand(sort, 1);
//   SortTieOperand(*sort) == 1
#ifndef PTXLA_HLO_BACKEND_IR_SORT_CONFIG_H_
#define PTXLA_HLO_BACKEND_IR_SORT_CONFIG_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// -1: none is known.
int SortTieOperand(const Instruction& sort);
void SetSortTieOperand(Instruction* sort, int operand);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_SORT_CONFIG_H_
