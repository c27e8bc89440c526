// Peephole rewrites until nothing changes: each instruction is offered to the
// rules of simplify_*.cc, and what a rewrite touches is offered again.
// Logical only: layouts are not looked at, and results of rewrites have none.
#ifndef PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_ALGEBRAIC_SIMPLIFIER_H_
#define PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_ALGEBRAIC_SIMPLIFIER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class AlgebraicSimplifierPass : public Pass {
 public:
  absl::string_view name() const override { return "algebraic-simplifier"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_ALGEBRAIC_SIMPLIFIER_H_
