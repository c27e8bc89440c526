#include "hlo_backend/passes/layout/turned_parts.h"

#include <vector>

#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/dimension_order.h"

namespace ptxla::hlo {

Instruction* OfTurnedArray(Builder* b, MovingTransposes* moving,
                           Instruction* i) {
  Instruction* x = i->operand(0);
  const bool updates = i->opcode() == Opcode::kDynamicUpdateSlice;
  const int first = updates ? 2 : 1;  // of the starts
  if (!moving->Moves(x) || i->operand_count() != first + i->shape().rank()) {
    return nullptr;
  }
  const DimVector order(x->dimensions().begin(), x->dimensions().end());
  const DimVector inverse = Inverse(order);
  std::vector<Instruction*> starts;
  starts.reserve(inverse.size());
  for (const int64_t d : inverse) {
    starts.push_back(i->operand(static_cast<int>(first + d)));
  }
  Instruction* y = x->operand(0);
  return moving->Behind(
      updates
          ? b->DynamicUpdateSlice(y, moving->Before(i->operand(1), order),
                                  starts)
          : b->DynamicSlice(y, starts, Permuted(i->shape().dims(), inverse)),
      order);
}

}  // namespace ptxla::hlo
