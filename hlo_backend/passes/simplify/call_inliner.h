// Puts the body of every `call` in its place, and that of every `map` whose
// body is elementwise: scalars in the body become arrays of the shape of the
// map. So too every fusion that another compiler has made and that is none of
// the forms of analysis/fusion_rules.h.
#ifndef PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_CALL_INLINER_H_
#define PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_CALL_INLINER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class CallInlinerPass : public Pass {
 public:
  absl::string_view name() const override { return "call-inliner"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_CALL_INLINER_H_
