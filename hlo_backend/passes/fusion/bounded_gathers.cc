#include "hlo_backend/passes/fusion/bounded_gathers.h"

#include <string>

#include "hlo_backend/analysis/bounded_rows.h"
#include "hlo_backend/passes/control_flow.h"

namespace ptxla::hlo {

absl::StatusOr<bool> BoundedGathersPass::Run(Module* module,
                                             const PassContext&) {
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    for (Instruction* i : c->instructions()) {
      if (i->opcode() != Opcode::kGather || !i->backend_config().empty() ||
          !NamesPlacesInside(*i)) {
        continue;
      }
      i->set_backend_config(std::string(kBoundedConfig), /*is_json=*/false);
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
