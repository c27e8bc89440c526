// Makes one of several equal instructions.
//
//   %a = f32[8] add(%x, %y)
//   %b = f32[8] add(%x, %y)     // users of %b take %a
//
// Called computations that compute the same are one first: torch_xla gives
// every reduce a body of its own. Layouts must be equal too. Instructions with
// side effects, and rng, are left alone.
#ifndef PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_CSE_H_
#define PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_CSE_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class CsePass : public Pass {
 public:
  absl::string_view name() const override { return "cse"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_CSE_H_
