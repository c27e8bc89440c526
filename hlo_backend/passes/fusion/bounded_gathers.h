// Marks gathers whose numbers are inside of their tables by what computes them:
// their kernels read a number and no more, and do not bound it once more.
//
//   %n = s32[256] fusion(%x)            // its root: clamp(0, .., 31999)
//   gather(f32[32000,128] %table, %n)   ==>   .., backend_config="bounded"
//
// So do the TPU compiler's: a clamp in a kernel of its own or with what
// computes the numbers, and two bundles a row (libtpu 0.0.42.1). On a module
// with layouts, when kernels are what they will be.
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_BOUNDED_GATHERS_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_BOUNDED_GATHERS_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class BoundedGathersPass : public Pass {
 public:
  absl::string_view name() const override { return "bounded-gathers"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_BOUNDED_GATHERS_H_
