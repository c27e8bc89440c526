#include "hlo_backend/passes/loop_elements.h"

#include <algorithm>

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

}  // namespace ptxla::hlo
