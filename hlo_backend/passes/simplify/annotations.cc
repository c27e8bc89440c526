#include "hlo_backend/passes/simplify/annotations.h"

#include "hlo_backend/analysis/custom_call_cost.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/dimension_utils.h"

namespace ptxla::hlo {

bool IsAnnotation(const Instruction& i) {
  return i.opcode() == Opcode::kCustomCall && i.operand_count() == 1 &&
         IsFreeCustomCall(i.attrs<CustomCallAttrs>().target) &&
         i.shape().SameDimsAndType(i.operand(0)->shape()) && !MovesToHost(i);
}

bool IsOwnOperand(const Instruction& i) {
  if (i.operand_count() != 1 || !i.shape().IsArray() ||
      !i.shape().SameDimsAndType(i.operand(0)->shape())) {
    return false;
  }
  if (i.opcode() == Opcode::kReshape) return true;
  return (i.opcode() == Opcode::kBroadcast ||
          i.opcode() == Opcode::kTranspose) &&
         IsIdentityMapping(i.dimensions());
}

absl::StatusOr<bool> AnnotationRemovalPass::Run(Module* module,
                                                const PassContext&) {
  bool changed = false;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->PostOrder()) {
      if (!IsAnnotation(*i) && !IsOwnOperand(*i)) continue;
      c->Replace(i, i->operand(0));
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
