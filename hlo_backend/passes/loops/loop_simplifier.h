// Loops without what nobody needs:
//
//  - elements of the state that neither a result, nor the condition, nor a
//    needed element depends on are removed, and with them the work of the body
//    that makes them (a scan that stacks what only a gradient would read);
//  - an element that the body hands on as it came is, behind the loop, what
//    went into it; a scalar constant (or a broadcast of one) that it hands on
//    is a constant in the body and the condition.
//
//   while((i, x, stack)) { (i + 1, f(x), update(stack, x, i)) }   // result x
//   ==> while((i, x)) { (i + 1, f(x)) }
#ifndef PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_SIMPLIFIER_H_
#define PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_SIMPLIFIER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class LoopSimplifierPass : public Pass {
 public:
  absl::string_view name() const override { return "loop-simplifier"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_SIMPLIFIER_H_
