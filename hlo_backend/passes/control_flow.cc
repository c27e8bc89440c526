#include "hlo_backend/passes/control_flow.h"

namespace ptxla::hlo {

bool IsControlComputation(const Computation& computation) {
  if (computation.IsEntry()) return true;
  for (const Instruction* caller : computation.callers()) {
    switch (caller->opcode()) {
      case Opcode::kWhile:
      case Opcode::kConditional:
      case Opcode::kCall:
      case Opcode::kAsyncStart:
        return true;
      default:
        break;
    }
  }
  return false;
}

std::vector<Computation*> ControlComputations(const Module& module) {
  std::vector<Computation*> result;
  for (Computation* c : module.ComputationPostOrder()) {
    if (IsControlComputation(*c)) result.push_back(c);
  }
  return result;
}

}  // namespace ptxla::hlo
