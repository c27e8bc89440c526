#include "hlo_backend/passes/x64/x64_elimination.h"

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/analysis/trip_count.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/x64/x64_eliminator.h"

namespace ptxla::hlo {

bool IsX64Combine(const Instruction& i) {
  return i.opcode() == Opcode::kCustomCall &&
         i.attrs<CustomCallAttrs>().target == kX64Combine;
}

namespace {

// A 64-bit counter is two words afterwards, which nobody recognises: how often
// its loop runs is written down before.
bool NoteTripCounts(Module* module) {
  bool changed = false;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->instructions()) {
      if (i->opcode() != Opcode::kWhile || !HasX64(i->shape()) ||
          !i->backend_config().empty()) {
        continue;
      }
      const auto count = TripCountOf(*i);
      if (!count.has_value()) continue;
      i->set_backend_config(absl::StrCat("{\"known_trip_count\":{\"n\":\"",
                                         count->count, "\"}}"));
      changed = true;
    }
  }
  return changed;
}

}  // namespace

absl::StatusOr<bool> X64EliminationPass::Run(Module* module,
                                             const PassContext&) {
  bool changed = NoteTripCounts(module);
  // Bodies of reduces and the like are rewritten by their callers.
  for (Computation* c : ControlComputations(*module)) {
    ASSIGN_OR_RETURN(const bool this_one, X64Eliminator(c).Run());
    changed |= this_one;
  }
  return changed;
}

}  // namespace ptxla::hlo
