#include "hlo_backend/passes/loops/loop_elements.h"

#include <algorithm>

#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {
namespace {

bool IsElement(const Instruction& user) {
  return user.opcode() == Opcode::kGetTupleElement;
}

}  // namespace

bool IsOnlyTakenApart(const Instruction& tuple) {
  return !tuple.IsRoot() &&
         std::all_of(tuple.users().begin(), tuple.users().end(),
                     [](const Instruction* user) { return IsElement(*user); });
}

std::vector<Instruction*> ElementsOf(const Instruction& tuple, int k) {
  std::vector<Instruction*> values;
  for (Instruction* user : tuple.users()) {
    if (IsElement(*user) && user->tuple_index() == k) values.push_back(user);
  }
  return values;
}

bool IsPlainLoop(const Instruction& loop) {
  const Instruction& start = *loop.operand(0);
  const Computation& body = *loop.while_body();
  const Computation& condition = *loop.while_condition();
  return start.opcode() == Opcode::kTuple && start.user_count() == 1 &&
         !start.IsRoot() && body.root()->opcode() == Opcode::kTuple &&
         body.root()->user_count() == 0 && body.callers().size() == 1 &&
         condition.callers().size() == 1 && IsOnlyTakenApart(loop) &&
         IsOnlyTakenApart(*body.parameter(0)) &&
         IsOnlyTakenApart(*condition.parameter(0));
}

std::vector<Instruction*> PlainLoopsIn(const Computation& c) {
  std::vector<Instruction*> loops;
  for (Instruction* i : c.instructions()) {
    if (i->opcode() == Opcode::kWhile && IsPlainLoop(*i)) loops.push_back(i);
  }
  return loops;
}

const Instruction* LoopOf(const Computation& body) {
  if (body.callers().size() != 1) return nullptr;
  const Instruction* loop = body.callers()[0];
  const bool is_body =
      loop->opcode() == Opcode::kWhile && loop->while_body() == &body;
  return is_body ? loop : nullptr;
}

Computation* OwnCalled(Instruction* loop, Computation* c) {
  if (c->callers().size() == 1) return c;
  Module::ComputationMap copied;
  Computation* own = c->module()->CloneComputation(*c, c->name(), &copied);
  for (int k = 0; k < static_cast<int>(loop->called().size()); ++k) {
    if (loop->called()[k] == c) loop->ReplaceCalled(k, own);
  }
  return own;
}

}  // namespace ptxla::hlo
