// Reduces of several arrays, or by a body that is not one operation, as a tree:
// halves of the reduced elements are combined by the body, written elementwise,
// until one is left, rows and planes before lanes. The initial value comes in
// once, at the end. Bodies that are not elementwise stay. Sums and the like of
// f16 and f8, which are no types of vector units, become those of f32, planes
// of masks those of s32.
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_REDUCE_EXPANDER_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_REDUCE_EXPANDER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class ReduceExpanderPass : public Pass {
 public:
  absl::string_view name() const override { return "reduce-expander"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_REDUCE_EXPANDER_H_
