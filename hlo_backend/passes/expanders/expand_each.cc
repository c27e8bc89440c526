#include "hlo_backend/passes/expanders/expand_each.h"

#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

bool ExpandEach(Module* module,
                absl::FunctionRef<Instruction*(Instruction*)> expand) {
  bool changed = false;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->PostOrder()) {
      Instruction* expanded = expand(i);
      if (expanded == nullptr) continue;
      c->Replace(i, expanded);
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
