#include "hlo_backend/passes/simplify_rules.h"

namespace ptxla::hlo {

Instruction* SimplifySelect(Instruction* i, Rewriter& r) {
  Builder& b = r.builder();
  if (i->opcode() == Opcode::kSelect) {
    Instruction *pred = i->operand(0), *yes = i->operand(1),
                *no = i->operand(2);
    if (yes == no) return yes;
    if (IsAll(*pred, 1)) return yes;
    if (IsAll(*pred, 0)) return no;
    if (pred->opcode() == Opcode::kNot) {
      return b.Select(pred->operand(0), no, yes);
    }
    if (pred->shape().IsScalar() && !i->shape().IsScalar()) {
      return b.Select(b.BroadcastScalar(pred, i->shape().dims()), yes, no);
    }
    // select(p, true, false) and the like.
    if (i->shape().type() == PrimitiveType::kPred && IsAll(*yes, 1) &&
        IsAll(*no, 0)) {
      return pred;
    }
    return nullptr;
  }
  // Compare. NaN makes x == x false, so integers only.
  const PrimitiveType type = i->operand(0)->shape().type();
  if (i->operand(0) != i->operand(1) || IsFloat(type) || IsComplex(type)) {
    return nullptr;
  }
  const CompareDirection direction = i->attrs<CompareAttrs>().direction;
  const bool value = direction == CompareDirection::kEq ||
                     direction == CompareDirection::kLe ||
                     direction == CompareDirection::kGe;
  Instruction* constant = b.ConstantScalar(PrimitiveType::kPred, value);
  return i->shape().IsScalar() ? constant
                               : b.BroadcastScalar(constant, i->shape().dims());
}

}  // namespace ptxla::hlo
