#include "hlo_backend/passes/expanders/gather_canonicalizer.h"

#include "hlo_backend/passes/expanders/canonical_gather.h"
#include "hlo_backend/passes/expanders/canonical_scatter.h"

namespace ptxla::hlo {

absl::StatusOr<bool> GatherCanonicalizerPass::Run(Module* module,
                                                  const PassContext&) {
  bool changed = false;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->PostOrder()) {
      Instruction* canonical = nullptr;
      if (i->opcode() == Opcode::kGather) {
        canonical = CanonicalGather(i);
      } else if (i->opcode() == Opcode::kScatter) {
        canonical = CanonicalScatter(i);
      }
      if (canonical == nullptr) continue;
      c->Replace(i, canonical);
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
