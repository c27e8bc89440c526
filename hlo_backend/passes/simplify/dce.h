// Removes what nobody needs: instructions that the root does not reach and that
// have no side effect, and computations that nothing calls. Parameters stay.
#ifndef PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_DCE_H_
#define PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_DCE_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class DcePass : public Pass {
 public:
  absl::string_view name() const override { return "dce"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_DCE_H_
