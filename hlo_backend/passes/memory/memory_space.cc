#include "hlo_backend/passes/memory/memory_space.h"

#include "hlo_backend/analysis/buffer_plan.h"
#include "hlo_backend/analysis/planes_in_place.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {
namespace {

void SetSpaceOfNames(Instruction* value, int memory_space) {
  SetSpace(value->mutable_shape(), memory_space);
  for (Instruction* user : value->users()) {
    if (user->opcode() == Opcode::kBitcast || UpdatesInPlace(*user, *value) ||
        (IsInPlace(*user) && user->operand(0) == value)) {
      SetSpaceOfNames(user, memory_space);
    }
    if (user->opcode() != Opcode::kFusion) continue;
    for (int k = 0; k < user->operand_count(); ++k) {
      if (user->operand(k) != value) continue;
      SetSpace(user->fused()->parameter(k)->mutable_shape(), memory_space);
    }
  }
}

}  // namespace

bool UpdatesInPlace(const Instruction& user, const Instruction& value) {
  const int operand = InPlaceOperand(user);
  return operand >= 0 && user.operand(operand) == &value;
}

std::vector<Instruction*> ValuesOf(Instruction* maker, int64_t index) {
  if (index < 0) return {maker};
  std::vector<Instruction*> values;
  for (Instruction* user : maker->users()) {
    if (user->opcode() == Opcode::kGetTupleElement &&
        user->tuple_index() == index) {
      values.push_back(user);
    }
    // The first element of an asynchronous copy is what its end gives.
    if (user->opcode() == Opcode::kCopyDone && index == 0) {
      values.push_back(user);
    }
  }
  return values;
}

void SetMemorySpace(Instruction* maker, int64_t index, int memory_space) {
  for (Instruction* value : ValuesOf(maker, index)) {
    SetSpaceOfNames(value, memory_space);
  }
  Instruction* root =
      maker->opcode() == Opcode::kFusion ? maker->fused()->root() : nullptr;
  if (index < 0) {
    if (root != nullptr) SetSpace(root->mutable_shape(), memory_space);
    return;
  }
  const int k = static_cast<int>(index);
  SetSpace(maker->mutable_shape()->mutable_element(k), memory_space);
  if (root != nullptr) {
    SetSpace(root->mutable_shape()->mutable_element(k), memory_space);
    SetSpace(root->operand(k)->mutable_shape(), memory_space);
  }
}

}  // namespace ptxla::hlo
