// A stack of which a loop writes every plane, and that it does not read, begins
// as memory and not as zeros: no kernel fills it, and none copies zeros that
// several stacks share.
//
//   zeros = f32[4,2048] broadcast(0)
//   while((0, zeros), 4 times) { dynamic-update-slice(stack, row, i, 0) }
//   ==> stack = f32[4,2048] custom-call(), custom_call_target="AllocateBuffer"
//
// So does the TPU compiler (libtpu 0.0.42.1), where the planes are written from
// the first one on. On a module with layouts.
#ifndef PTXLA_HLO_BACKEND_PASSES_LOOPS_STACK_ALLOCATION_H_
#define PTXLA_HLO_BACKEND_PASSES_LOOPS_STACK_ALLOCATION_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class StackAllocationPass : public Pass {
 public:
  absl::string_view name() const override { return "stack-allocation"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LOOPS_STACK_ALLOCATION_H_
