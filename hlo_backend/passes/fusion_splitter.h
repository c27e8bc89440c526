// Fusions that no kernel of ours can be, taken apart: their work becomes
// kernels that follow one another in their place.
//
// TPU compilers compute slices, pads, windows and several products inside of
// one kernel. A scheduled module keeps its order and everything else; such a
// fusion's body is fused anew by our own rules (row_fusion.h, fusion.h,
// movement_fusion.h), with the layouts that it has, and what its kernels hand
// on goes through HBM. Fusions that keep to the rules (fusion_rules.h) stay as
// they are.
//
//   %f = f32[8,128] fusion(%x), calls={ slice, dot, dot }
//   ==> %slice = ..., %a = ... fusion(%slice), %f = ... dot(%a)
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_SPLITTER_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_SPLITTER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class FusionSplitterPass : public Pass {
 public:
  absl::string_view name() const override { return "fusion-splitter"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_SPLITTER_H_
