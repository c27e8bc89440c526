#include "hlo_backend/passes/products/dot_side.h"

#include <utility>

#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

Instruction* DotOf(const Instruction& dot, const DotSide& lhs,
                   const DotSide& rhs, PrimitiveType type) {
  DotAttrs attrs = dot.attrs<DotAttrs>();
  attrs.lhs_batch = lhs.batch;
  attrs.lhs_contracting = lhs.contracting;
  attrs.rhs_batch = rhs.batch;
  attrs.rhs_contracting = rhs.contracting;
  DimVector dims;
  for (int64_t d : lhs.batch) dims.push_back(lhs.operand->shape().dim(d));
  for (const DotSide* side : {&lhs, &rhs}) {
    for (int64_t d : side->free()) {
      dims.push_back(side->operand->shape().dim(d));
    }
  }
  return dot.parent()->Add(Opcode::kDot, Shape::Array(type, dims),
                           {lhs.operand, rhs.operand}, std::move(attrs));
}

}  // namespace ptxla::hlo
