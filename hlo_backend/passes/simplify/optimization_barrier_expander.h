// Barriers have done their work when the order of execution is settled: what
// they hold back stands behind what it waits for. Their values take their
// place.
//
//   %b = (f32[8], f32[8]) opt-barrier(%t)       ==> %t
//   %x = f32[8] get-tuple-element(%b), index=0  ==> get-tuple-element(%t)
#ifndef PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_OPTIMIZATION_BARRIER_EXPANDER_H_
#define PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_OPTIMIZATION_BARRIER_EXPANDER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class OptimizationBarrierExpanderPass : public Pass {
 public:
  absl::string_view name() const override {
    return "optimization-barrier-expander";
  }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_OPTIMIZATION_BARRIER_EXPANDER_H_
