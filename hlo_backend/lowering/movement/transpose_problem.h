// What a transpose of the two minor dimensions is to its kernel.
//
//   const auto p = DescribeMinorTranspose(instruction);
//   p->from[q]      // physical dimension of the operand
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_TRANSPOSE_PROBLEM_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_TRANSPOSE_PROBLEM_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {

struct TransposeProblem {
  PhysicalArray in, out;
  // Physical dimension of the operand that is dimension q of the result.
  std::vector<int> from;

  // The innermost major of the result with several planes; -1: none.
  int PlaneDim() const;
};

// Of a transpose or copy that exchanges rows and lanes, with as few major
// dimensions as there can be; nullopt: another one, or more dimensions than a
// window has.
std::optional<TransposeProblem> DescribeMinorTranspose(
    const hlo::Instruction& i);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_TRANSPOSE_PROBLEM_H_
