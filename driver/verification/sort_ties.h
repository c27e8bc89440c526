// What an unstable sort may leave: elements that compare equal in any order.
//
//   if (IsSortOf(*sort, operands, {&keys, &positions}, options)) ...
//
// Operands (5, 3, 5) and (0, 1, 2), ascending: (3, 5, 5) with (1, 0, 2) or with
// (1, 2, 0); not (3, 5, 5) with (1, 0, 0).
#ifndef PTXLA_DRIVER_VERIFICATION_SORT_TIES_H_
#define PTXLA_DRIVER_VERIFICATION_SORT_TIES_H_

#include "absl/types/span.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::driver {

bool IsUnstableSort(const hlo::Instruction& i);

// Are `results` (one array per operand) the operands' elements, those of one
// position together, in an order that the comparator of `sort` allows?
bool IsSortOf(const hlo::Instruction& sort,
              absl::Span<const hlo::Literal* const> operands,
              absl::Span<const hlo::Literal* const> results,
              const hlo::EvaluatorOptions& options);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_VERIFICATION_SORT_TIES_H_
