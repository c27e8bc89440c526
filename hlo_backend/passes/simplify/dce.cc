#include "hlo_backend/passes/simplify/dce.h"

#include "base/status.h"

namespace ptxla::hlo {

absl::StatusOr<bool> DcePass::Run(Module* module, const PassContext&) {
  int removed = 0;
  module->RemoveUnusedComputations();
  for (Computation* c : module->computations()) removed += c->RemoveDead();
  // Dead calls leave callees behind. A computation that nothing calls is not
  // part of the program: dropping it changes nothing.
  module->RemoveUnusedComputations();
  if (removed > 0) module->Compact();
  return removed > 0;
}

}  // namespace ptxla::hlo
