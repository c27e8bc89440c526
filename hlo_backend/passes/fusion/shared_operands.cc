#include "hlo_backend/passes/fusion/shared_operands.h"

#include "hlo_backend/analysis/product_batch.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

void AddSharedOperands(Instruction* dot, std::vector<Instruction*>* group) {
  for (int o = 0; o < 2; ++o) {
    if (SharedMatrix(*dot, o) == nullptr) continue;
    Instruction* broadcast = dot->operand(o);
    if (broadcast->user_count() > 1) {
      broadcast = dot->parent()->AddLike(*broadcast, broadcast->shape(),
                                         {broadcast->operand(0)});
      dot->ReplaceOperand(o, broadcast);
    }
    group->push_back(broadcast);
  }
}

}  // namespace ptxla::hlo
