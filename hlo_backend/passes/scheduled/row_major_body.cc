#include "hlo_backend/passes/scheduled/row_major_body.h"

#include <utility>

#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/dimension_order.h"

namespace ptxla::hlo {

Instruction* RowMajorBody::As(Instruction* value, const Shape& shape) {
  if (value->shape() == shape) return value;
  return c_->Add(Opcode::kBitcast, shape, {value});
}

Instruction* RowMajorBody::Like(const Instruction* i, Opcode opcode,
                                const Shape& shape,
                                const std::vector<Instruction*>& operands,
                                Attributes attributes) {
  const std::vector<Computation*> called(i->called().begin(),
                                         i->called().end());
  Instruction* made =
      c_->Add(opcode, shape, operands, std::move(attributes), called);
  made->set_metadata(i->shared_metadata());
  return made;
}

Instruction* RowMajorBody::Transposed(Instruction* value,
                                      const DimVector& permutation,
                                      const Shape& shape) {
  if (IsIncreasing(permutation)) return As(value, shape);
  return c_->Add(Opcode::kTranspose, shape, {value},
                 DimensionsAttrs{permutation});
}

Instruction* RowMajorBody::Result(const Instruction* i, Opcode opcode,
                                  const std::vector<Instruction*>& operands,
                                  Attributes attributes,
                                  const DimVector& natural) {
  const DimVector wanted = OrderOf(i->shape());
  if (natural == wanted) {
    return Like(i, opcode, RowMajorOf(i->shape()), operands,
                std::move(attributes));
  }
  const Shape shape =
      Array(i->shape().type(), Permuted(i->shape().dims(), natural));
  Instruction* made = Like(i, opcode, shape, operands, std::move(attributes));
  return Transposed(made, Permuted(Inverse(natural), wanted),
                    RowMajorOf(i->shape()));
}

Shape RowMajorBody::Array(PrimitiveType type, const DimVector& dims) const {
  return WithTpuLayout(Shape::Array(type, dims), generation_);
}

}  // namespace ptxla::hlo
