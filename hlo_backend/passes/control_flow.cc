#include "hlo_backend/passes/control_flow.h"

#include "absl/container/flat_hash_set.h"

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

bool SeparateBodies(Module* module) {
  bool changed = false;
  absl::flat_hash_set<const Computation*> taken;
  // Bodies inside of a copy are shared with the original: they come later.
  std::vector<Computation*> open = {module->entry()};
  while (!open.empty()) {
    Computation* c = open.back();
    open.pop_back();
    for (Instruction* i : c->instructions()) {
      if (i->opcode() != Opcode::kWhile &&
          i->opcode() != Opcode::kConditional) {
        continue;
      }
      for (int k = 0; k < static_cast<int>(i->called().size()); ++k) {
        Computation* body = i->called()[k];
        if (!taken.insert(body).second) {
          Module::ComputationMap copied;
          body = module->CloneComputation(*body, body->name(), &copied);
          taken.insert(body);
          i->ReplaceCalled(k, body);
          changed = true;
        }
        open.push_back(body);
      }
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
