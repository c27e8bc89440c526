#include "hlo_backend/passes/simplify/simplify_rules.h"

namespace ptxla::hlo {
namespace {

// The operand of `i` that is one constant everywhere: its number; -1: none.
int Bound(const Instruction& i) {
  for (int k = 0; k < 2; ++k) {
    if (ScalarConstantOf(*i.operand(k)) != nullptr) return k;
  }
  return -1;
}

}  // namespace

Instruction* SimplifyBounds(Instruction* i, Rewriter& r) {
  const bool least = i->opcode() == Opcode::kMinimum;
  if (IsComplex(i->shape().type())) return nullptr;
  const int outer = Bound(*i);
  if (outer < 0) return nullptr;
  const Instruction* inside = i->operand(1 - outer);
  if (inside->opcode() != (least ? Opcode::kMaximum : Opcode::kMinimum)) {
    return nullptr;
  }
  const int inner = Bound(*inside);
  if (inner < 0) return nullptr;
  Instruction* low = least ? inside->operand(inner) : i->operand(outer);
  Instruction* high = least ? i->operand(outer) : inside->operand(inner);
  // Not where one is no number, nor for zeros of two signs.
  if (!(ScalarConstantOf(*low)->GetDouble(0) <
        ScalarConstantOf(*high)->GetDouble(0))) {
    return nullptr;
  }
  return r.builder().Clamp(low, inside->operand(1 - inner), high);
}

}  // namespace ptxla::hlo
