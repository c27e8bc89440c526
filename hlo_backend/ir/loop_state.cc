#include "hlo_backend/ir/loop_state.h"

#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {
namespace {

const Instruction* BelowBitcasts(const Instruction* i) {
  while (i->opcode() == Opcode::kBitcast) i = i->operand(0);
  return i;
}

// `value` is `i`, or one of its results.
bool IsResultOf(const Instruction& i, const Instruction* value) {
  value = BelowBitcasts(value);
  if (value->opcode() == Opcode::kGetTupleElement) value = value->operand(0);
  return value == &i;
}

bool ReadsState(const Instruction& i, int64_t index) {
  for (const Instruction* operand : i.operands()) {
    const Instruction* o = BelowBitcasts(operand);
    if (o->opcode() == Opcode::kGetTupleElement &&
        o->operand(0)->opcode() == Opcode::kParameter &&
        o->tuple_index() == index) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool UpdatesLoopState(const Instruction& i) {
  const Computation* c = i.parent();
  if (c == nullptr || c->callers().size() != 1) return false;
  const Instruction& loop = *c->callers()[0];
  if (loop.opcode() != Opcode::kWhile || loop.while_body() != c ||
      c->root()->opcode() != Opcode::kTuple) {
    return false;
  }
  for (int k = 0; k < c->root()->operand_count(); ++k) {
    if (IsResultOf(i, c->root()->operand(k)) && ReadsState(i, k)) return true;
  }
  return false;
}

}  // namespace ptxla::hlo
