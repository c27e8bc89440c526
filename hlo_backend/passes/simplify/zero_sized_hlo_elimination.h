// Arrays without elements are gone before anything is lowered: no kernel has
// to know them.
//
//   %d = f32[8,128] dot(f32[8,0] %a, f32[0,128] %b)  ==> broadcast(0)
//   %c = f32[8,128] concatenate(f32[0,128] %a, %b)   ==> %b
//   %r = f32[128] reduce(f32[0,128] %a, %z)          ==> broadcast(%z)
//   %s = f32[0,128] add(%a, %a)                      ==> constant({})
//
// Parameters, calls, loops and what has side effects stay.
#ifndef PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_ZERO_SIZED_HLO_ELIMINATION_H_
#define PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_ZERO_SIZED_HLO_ELIMINATION_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class ZeroSizedHloEliminationPass : public Pass {
 public:
  absl::string_view name() const override {
    return "zero-sized-hlo-elimination";
  }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_ZERO_SIZED_HLO_ELIMINATION_H_
