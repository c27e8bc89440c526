// Order that a program asks for beside what data needs: an instruction that has
// such edges stays as it is in most rewrites.
//
//   if (HasControlEdges(*dot)) return nullptr;
#ifndef PTXLA_HLO_BACKEND_PASSES_CONTROL_EDGES_H_
#define PTXLA_HLO_BACKEND_PASSES_CONTROL_EDGES_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

inline bool HasControlEdges(const Instruction& i) {
  return !i.control_predecessors().empty() || !i.control_successors().empty();
}

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_CONTROL_EDGES_H_
