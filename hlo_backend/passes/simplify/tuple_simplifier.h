// get-tuple-element(tuple(a, b), index=1) is b, and a tuple of all the elements
// of a tuple is that tuple. A tuple that nobody reads any more then is gone.
#ifndef PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_TUPLE_SIMPLIFIER_H_
#define PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_TUPLE_SIMPLIFIER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class TupleSimplifierPass : public Pass {
 public:
  absl::string_view name() const override { return "tuple-simplifier"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_TUPLE_SIMPLIFIER_H_
