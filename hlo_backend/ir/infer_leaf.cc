#include "base/status.h"
#include "hlo_backend/ir/element_types.h"
#include "hlo_backend/ir/infer.h"

namespace ptxla::hlo::infer {

Result Leaf(const Args& a) {
  switch (a.opcode) {
    case Opcode::kReplicaId:
    case Opcode::kPartitionId:
      return Shape::Scalar(PrimitiveType::kU32);
    case Opcode::kConstant: {
      const auto* attrs = a.attrs<ConstantAttrs>();
      if (attrs == nullptr || !attrs->literal) return Fail("no literal");
      Shape shape = attrs->literal->shape();
      if (a.declared != nullptr && a.declared->SameDimsAndType(shape)) {
        return *a.declared;
      }
      shape.clear_layout();
      return shape;
    }
    case Opcode::kIota: {
      ASSIGN_OR_RETURN(Shape shape, Declared(a));
      const int64_t dim = a.attrs<IotaAttrs>()->dimension;
      if (!shape.IsArray() || dim < 0 || dim >= shape.rank()) {
        return Fail("iota_dimension=", dim, " is not a dimension of ",
                    Text(shape));
      }
      RETURN_IF_ERROR(CheckElementType(a.opcode, shape));
      return shape;
    }
    case Opcode::kRngBitGenerator: {
      ASSIGN_OR_RETURN(Shape shape, Declared(a));
      const Shape& bits = shape.IsTuple() && shape.element_count_of_tuple() == 2
                              ? shape.element(1)
                              : shape;
      if (!IsInteger(bits.type())) {
        return Fail("rng-bit-generator makes (state, integer bits), not ",
                    Text(shape));
      }
      const Shape& state = a.operand(0);
      if (!state.IsArray() || !IsInteger(state.type())) {
        return Fail("the state is of integers, not ", Text(state));
      }
      if (shape.IsTuple() && !shape.element(0).SameDimsAndType(a.operand(0))) {
        return Fail("the state in ", Text(shape), " is not that of operand ",
                    Text(a.operand(0)));
      }
      return shape;
    }
    case Opcode::kRng: {
      ASSIGN_OR_RETURN(Shape shape, Declared(a));
      if (a.operand_count() != 2) {
        return Fail("rng takes 2 operands, not ", a.operand_count());
      }
      for (const Shape* p : a.operands) {
        if (!p->IsScalar()) return Fail("rng bounds are scalars");
      }
      RETURN_IF_ERROR(CheckArray(shape, "the result"));
      return shape;
    }
    case Opcode::kRngGetAndUpdateState: {
      ASSIGN_OR_RETURN(Shape shape, Declared(a));
      if (!shape.IsArray() || !IsInteger(shape.type())) {
        return Fail("the state is of integers, not ", Text(shape));
      }
      return shape;
    }
    default:
      return Declared(a);
  }
}

}  // namespace ptxla::hlo::infer
