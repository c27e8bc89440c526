#include "hlo_backend/passes/dce.h"

#include "base/status.h"

namespace ptxla::hlo {

absl::StatusOr<bool> DcePass::Run(Module* module, const PassContext&) {
  int removed = module->RemoveUnusedComputations();
  for (Computation* c : module->computations()) removed += c->RemoveDead();
  // Dead calls leave callees behind.
  removed += module->RemoveUnusedComputations();
  if (removed > 0) module->Compact();
  return removed > 0;
}

}  // namespace ptxla::hlo
