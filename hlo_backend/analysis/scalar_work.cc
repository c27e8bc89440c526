#include "hlo_backend/analysis/scalar_work.h"

#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {
namespace {

bool IsOperation(const Instruction& i) {
  if (!IsScalarUnitShape(i.shape())) return false;
  const bool logic = i.shape().type() == PrimitiveType::kPred;
  switch (i.opcode()) {
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kMultiply:
    case Opcode::kNegate:
      return !logic;
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftRightLogical:
      return !logic;
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      return i.shape().type() == PrimitiveType::kS32;
    case Opcode::kConvert:
      // From a pred, or between the two 32-bit types.
      return !logic && IsScalarUnitShape(i.operand(0)->shape());
    case Opcode::kBitcastConvert:
      return !logic && i.operand(0)->shape().type() != PrimitiveType::kPred;
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kSelect:
      return true;
    case Opcode::kCompare:
      return IsScalarUnitShape(i.operand(0)->shape());
    default:
      return false;
  }
}

bool OperandsFit(const Instruction& i) {
  for (const Instruction* o : i.operands()) {
    if (!IsScalarUnitShape(o->shape())) return false;
  }
  return true;
}

}  // namespace

bool IsScalarUnitShape(const Shape& shape) {
  if (!shape.IsArray() || !shape.IsScalar()) return false;
  return shape.type() == PrimitiveType::kS32 ||
         shape.type() == PrimitiveType::kU32 ||
         shape.type() == PrimitiveType::kPred;
}

bool IsScalarUnitWork(const Instruction& i) {
  if (!OperandsFit(i)) return false;
  if (i.opcode() != Opcode::kFusion) return IsOperation(i);
  if (i.fusion_kind() != FusionKind::kLoop || !IsScalarUnitShape(i.shape())) {
    return false;
  }
  for (const Instruction* f : i.fused()->instructions()) {
    if (f->opcode() == Opcode::kParameter || f->IsConstant()) {
      if (!IsScalarUnitShape(f->shape())) return false;
    } else if (!IsOperation(*f) || !OperandsFit(*f)) {
      return false;
    }
  }
  return true;
}

bool StartsAtScalar(const Instruction& kernel, const Instruction& value) {
  switch (kernel.opcode()) {
    case Opcode::kDynamicSlice:
      return kernel.operand(0) != &value;
    case Opcode::kDynamicUpdateSlice:
      return kernel.operand(0) != &value && kernel.operand(1) != &value;
    default:
      return false;
  }
}

bool MayReadInSmem(const Instruction& kernel, const Instruction& value) {
  if (kernel.opcode() == Opcode::kCopy) return false;
  return kernel.opcode() == Opcode::kFusion ||
         kernel.opcode() == Opcode::kBroadcast || kernel.IsElementwise() ||
         StartsAtScalar(kernel, value);
}

}  // namespace ptxla::hlo
