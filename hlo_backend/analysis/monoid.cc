#include "hlo_backend/analysis/monoid.h"

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {
namespace {

bool IsPredConstant(const Instruction& i, bool value) {
  return i.opcode() == Opcode::kConstant && i.shape().IsScalar() &&
         i.shape().type() == PrimitiveType::kPred &&
         (i.literal().GetInt(0) != 0) == value;
}

// A logical value that is only said another way: x != false, or x ? true :
// false, as PyTorch/XLA's all() and any() have it.
const Instruction* BehindTruth(const Instruction* i) {
  while (true) {
    if (i->opcode() == Opcode::kCompare &&
        i->operand(0)->shape().type() == PrimitiveType::kPred &&
        i->attrs<CompareAttrs>().direction == CompareDirection::kNe &&
        IsPredConstant(*i->operand(1), false)) {
      i = i->operand(0);
    } else if (i->opcode() == Opcode::kSelect &&
               IsPredConstant(*i->operand(1), true) &&
               IsPredConstant(*i->operand(2), false)) {
      i = i->operand(0);
    } else {
      return i;
    }
  }
}

}  // namespace

bool IsMonoid(Opcode op) {
  switch (op) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      return true;
    default:
      return false;
  }
}

std::optional<Opcode> MonoidOf(const Computation& body) {
  const Instruction* root = BehindTruth(body.root());
  if (body.parameter_count() != 2 || root->operand_count() != 2) return {};
  const Instruction* a = BehindTruth(root->operand(0));
  const Instruction* b = BehindTruth(root->operand(1));
  if (a->opcode() != Opcode::kParameter || b->opcode() != Opcode::kParameter ||
      a == b) {
    return {};
  }
  if (!IsMonoid(root->opcode())) return {};
  return root->opcode();
}

}  // namespace ptxla::hlo
