#include "hlo_backend/passes/loops/stack_allocation.h"

#include <optional>
#include <vector>

#include "hlo_backend/analysis/trip_count.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/loops/loop_elements.h"

namespace ptxla::hlo {
namespace {

bool IsElement(const Instruction& i, const Instruction& state, int64_t k) {
  return i.opcode() == Opcode::kGetTupleElement && i.operand(0) == &state &&
         i.tuple_index() == k;
}

// Is the next state's element k this one with the plane of the counter's number
// written, and nothing else made of it?
bool IsFilled(const Instruction& loop, const TripCount& trips, int k) {
  const Instruction& state = *loop.while_body()->parameter(0);
  const Instruction* update = loop.while_body()->root()->operand(k);
  if (update->opcode() != Opcode::kDynamicUpdateSlice ||
      !IsElement(*update->operand(0), state, k)) {
    return false;
  }
  const Shape &stack = update->shape(), &plane = update->operand(1)->shape();
  if (trips.count < stack.dim(0) || plane.dim(0) != 1 ||
      !IsElement(*update->operand(2), state, trips.induction_index)) {
    return false;
  }
  for (int d = 1; d < stack.rank(); ++d) {
    if (plane.dim(d) != stack.dim(d)) return false;
  }
  for (const Instruction* value : ElementsOf(state, k)) {
    for (const Instruction* user : value->users()) {
      if (user != update) return false;
    }
  }
  return update->user_count() == 1 &&
         loop.while_body()->root()->OperandUses(update) == 1 &&
         ElementsOf(*loop.while_condition()->parameter(0), k).empty();
}

bool Fill(Instruction* loop) {
  Instruction* begin = loop->operand(0);
  if (begin->opcode() != Opcode::kTuple || begin->user_count() != 1 ||
      loop->while_body()->root()->opcode() != Opcode::kTuple ||
      !IsOnlyTakenApart(*loop->while_body()->parameter(0)) ||
      !IsOnlyTakenApart(*loop->while_condition()->parameter(0))) {
    return false;
  }
  const std::optional<TripCount> trips = TripCountOf(*loop);
  if (!trips.has_value() || trips->induction_index < 0 || trips->init != 0 ||
      trips->step != 1) {
    return false;
  }
  bool changed = false;
  for (int k = 0; k < begin->operand_count(); ++k) {
    const Instruction* zeros = begin->operand(k);
    if (zeros->opcode() != Opcode::kBroadcast || !IsFilled(*loop, *trips, k)) {
      continue;
    }
    begin->ReplaceOperand(
        k, Builder(loop->parent())
               .CustomCall("AllocateBuffer", {}, zeros->shape()));
    changed = true;
  }
  return changed;
}

}  // namespace

absl::StatusOr<bool> StackAllocationPass::Run(Module* module,
                                              const PassContext&) {
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    std::vector<Instruction*> loops;
    for (Instruction* i : c->instructions()) {
      if (i->opcode() == Opcode::kWhile) loops.push_back(i);
    }
    bool filled = false;
    for (Instruction* loop : loops) filled |= Fill(loop);
    if (filled) c->RemoveDead();
    changed |= filled;
  }
  return changed;
}

}  // namespace ptxla::hlo
