// Reduces over rows and lanes that keep several dimensions: the kept ones
// become one, which moves nothing, and the small result gets its shape back.
//
//   f32[8,64] reduce(f32[8,64,7,7]), dimensions={2,3}
//   ==> reshape(f32[512] reduce(bitcast f32[512,7,7]), dimensions={1,2})
//
// Once, after all simplification.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_REDUCE_SHAPER_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_REDUCE_SHAPER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class ReduceShaperPass : public Pass {
 public:
  absl::string_view name() const override { return "reduce-shaper"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_REDUCE_SHAPER_H_
