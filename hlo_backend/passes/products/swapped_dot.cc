#include "hlo_backend/passes/products/swapped_dot.h"

#include <utility>

namespace ptxla::hlo {

Instruction* SwappedDot(Instruction* dot, const Shape& shape) {
  DotAttrs swapped = dot->attrs<DotAttrs>();
  std::swap(swapped.lhs_batch, swapped.rhs_batch);
  std::swap(swapped.lhs_contracting, swapped.rhs_contracting);
  auto& precision = swapped.precision.operands;
  if (precision.size() == 2) std::swap(precision[0], precision[1]);
  Instruction* product =
      dot->parent()->AddLike(*dot, shape, {dot->operand(1), dot->operand(0)});
  *product->mutable_attrs<DotAttrs>() = std::move(swapped);
  return product;
}

}  // namespace ptxla::hlo
