#include "hlo_backend/passes/simplify/optimization_barrier_expander.h"

#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

absl::StatusOr<bool> OptimizationBarrierExpanderPass::Run(Module* module,
                                                          const PassContext&) {
  bool changed = false;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->PostOrder()) {
      if (i->opcode() != Opcode::kOptimizationBarrier) continue;
      c->Replace(i, i->operand(0));
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
