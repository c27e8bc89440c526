#include "hlo_backend/passes/scheduled/stored_types.h"

#include <algorithm>

#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {
namespace {

// Operand `k` as another type: the conversion stands before the instruction;
// single numbers are other ones.
void ConvertOperand(Instruction* i, int k, PrimitiveType type, int generation) {
  Computation* c = i->parent();
  Instruction* o = i->operand(k);
  Shape shape = o->shape();
  shape.set_type(type);
  if (shape.has_layout()) shape = WithTpuLayout(shape, generation);
  i->ReplaceOperand(
      k, o->IsConstant() && shape.IsScalar()
             ? c->AddConstant(Literal::Splat(shape, o->literal().GetDouble(0)))
             : c->Add(Opcode::kConvert, shape, {o}));
}

// The operands whose type is `such`; false: none is.
bool ConvertToBf16(Instruction* product, int generation,
                   bool (*such)(PrimitiveType)) {
  bool changed = false;
  for (int k = 0; k < 2; ++k) {
    if (!such(product->operand(k)->shape().type())) continue;
    ConvertOperand(product, k, PrimitiveType::kBf16, generation);
    changed = true;
  }
  return changed;
}

}  // namespace

bool ConvertPreds(Instruction* product, int generation) {
  return ConvertToBf16(product, generation, [](PrimitiveType type) {
    return type == PrimitiveType::kPred;
  });
}

bool ConvertSmallFloats(Instruction* product, int generation) {
  return ConvertToBf16(product, generation, [](PrimitiveType type) {
    return type == PrimitiveType::kF16 ||
           (IsFloat(type) && BitWidth(type) == 8 &&
            type != PrimitiveType::kF8E8M0Fnu);
  });
}

bool RoundsResult(const Instruction& reduce) {
  if (reduce.opcode() != Opcode::kReduce || reduce.operand_count() != 2) {
    return false;
  }
  const PrimitiveType type = reduce.shape().type();
  const PrimitiveType of = reduce.operand(0)->shape().type();
  return type != of && IsFloat(type) && IsFloat(of) &&
         reduce.operand(1)->shape().type() == of;
}

void ConvertBehind(Instruction* reduce, int generation) {
  Computation* c = reduce->parent();
  Shape shape = reduce->shape();
  shape.set_type(reduce->operand(0)->shape().type());
  if (shape.has_layout()) shape = WithTpuLayout(shape, generation);
  Instruction* wide =
      c->AddLike(*reduce, shape, {reduce->operand(0), reduce->operand(1)});
  c->Replace(reduce, c->Add(Opcode::kConvert, reduce->shape(), {wide}));
}

bool ConvertsToo(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kBroadcast:
    case Opcode::kConcatenate:
    case Opcode::kCopy:
    case Opcode::kPad:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      break;
    default:
      return false;
  }
  return i.shape().IsArray() &&
         std::any_of(i.operands().begin(), i.operands().end(),
                     [&](const Instruction* o) {
                       return o->shape().type() != i.shape().type();
                     });
}

void ConvertBefore(Instruction* movement, int generation) {
  const PrimitiveType type = movement->shape().type();
  for (int k = 0; k < movement->operand_count(); ++k) {
    if (movement->operand(k)->shape().type() != type) {
      ConvertOperand(movement, k, type, generation);
    }
  }
}

}  // namespace ptxla::hlo
