#include "hlo_backend/passes/simplify/call_inliner.h"

#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/passes/simplify/elementwise_body.h"

namespace ptxla::hlo {
namespace {

// Another compiler's, of a form that no kernel here has.
bool IsForeignFusion(const Instruction& i) {
  return i.opcode() == Opcode::kFusion && !CheckFusion(i).ok();
}

}  // namespace

absl::StatusOr<bool> CallInlinerPass::Run(Module* module, const PassContext&) {
  bool changed = false;
  for (Computation* c : module->ComputationPostOrder()) {
    for (Instruction* i : c->PostOrder()) {
      if (i->opcode() == Opcode::kCall || IsForeignFusion(*i)) {
        InlineCall(i);
        changed = true;
      } else if (i->opcode() == Opcode::kMap &&
                 CanApplyElementwise(*i->to_apply())) {
        c->Replace(i, ApplyElementwise(*i->to_apply(), i->operands(),
                                       i->shape().dims(), c)[0]);
        changed = true;
      }
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
