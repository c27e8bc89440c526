// A reduce-window over all earlier (or all later) elements of one dimension, a
// cumulative sum, as doubling steps: y = op(y, y shifted by 1, 2, 4, ...).
//
//   cumlogsumexp f32[256,2048] along lanes
//   ==> 11 times: y = select(lane >= step, body(y shifted by step, y), y)
//
// Of any elementwise body, of several arrays too (cummax with its indices): it
// must not matter how a body groups its elements, as it must not in HLO.
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_CUMULATIVE_WINDOWS_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_CUMULATIVE_WINDOWS_H_

#include <vector>

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// The dimension; -1: another window, or gaps in it.
int CumulativeDim(const Instruction& reduce_window);

// The values of one array whose body is the operation `op`, with a start that
// changes nothing.
Instruction* CumulativeValue(Instruction* reduce_window, Opcode op, int dim);

// The values of each array, of any elementwise body.
std::vector<Instruction*> CumulativeValues(Instruction* reduce_window, int dim);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_CUMULATIVE_WINDOWS_H_
