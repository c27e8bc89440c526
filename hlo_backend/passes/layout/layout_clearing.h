// Forgets the layouts inside the module, so that logical rewrites need not keep
// them; the layouts of the parameters and the result of the entry are kept in
// the entry layout of the module, from where layout-assignment takes them. A
// bitcast of arrays without tiles becomes the transposes and the reshape that
// it is under these layouts. Scheduled modules are left alone: their layouts
// are decisions.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_LAYOUT_CLEARING_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_LAYOUT_CLEARING_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class LayoutClearingPass : public Pass {
 public:
  absl::string_view name() const override { return "layout-clearing"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_LAYOUT_CLEARING_H_
