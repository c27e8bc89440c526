#include "hlo_backend/passes/simplify/tuple_simplifier.h"

namespace ptxla::hlo {
namespace {

// The tuple that `tuple` takes apart and puts together again, or nullptr.
Instruction* SourceOfRebuilt(const Instruction& tuple) {
  Instruction* source = nullptr;
  for (int i = 0; i < tuple.operand_count(); ++i) {
    const Instruction* element = tuple.operand(i);
    if (element->opcode() != Opcode::kGetTupleElement ||
        element->tuple_index() != i) {
      return nullptr;
    }
    if (source == nullptr) source = element->operand(0);
    if (source != element->operand(0)) return nullptr;
  }
  if (source == nullptr ||
      source->shape().element_count_of_tuple() != tuple.operand_count()) {
    return nullptr;
  }
  return source;
}

// What such a tuple names would seem to be read by it.
bool IsUnread(const Instruction& tuple) {
  return tuple.users().empty() && !tuple.IsRoot() &&
         tuple.control_successors().empty();
}

}  // namespace

absl::StatusOr<bool> TupleSimplifierPass::Run(Module* module,
                                              const PassContext&) {
  bool changed = false;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->PostOrder()) {
      Instruction* value = nullptr;
      if (i->opcode() == Opcode::kGetTupleElement &&
          i->operand(0)->opcode() == Opcode::kTuple) {
        value = i->operand(0)->operand(static_cast<int>(i->tuple_index()));
      } else if (i->opcode() == Opcode::kTuple && !i->IsRoot()) {
        value = SourceOfRebuilt(*i);
      }
      if (value == nullptr || !value->shape().SameDimsAndType(i->shape())) {
        continue;
      }
      Instruction* tuple =
          i->opcode() == Opcode::kGetTupleElement ? i->operand(0) : nullptr;
      c->Replace(i, value);
      if (tuple != nullptr && IsUnread(*tuple)) c->Remove(tuple);
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
