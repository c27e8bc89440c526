#include "hlo_backend/passes/memory/async_spreader.h"

#include <algorithm>
#include <utility>

namespace ptxla::hlo {
namespace {

// Every device runs the same order, so collectives may change theirs; what is
// sent to a host, and what runs on another thread, may not.
bool Moves(const Instruction& start) {
  switch (start.opcode()) {
    case Opcode::kAllGatherStart:
    case Opcode::kAllReduceStart:
    case Opcode::kCollectivePermuteStart:
    case Opcode::kCopyStart:
      return true;
    case Opcode::kAsyncStart: {
      const Instruction* wrapped = start.called()[0]->root();
      return IsCollective(wrapped->opcode()) || !start.HasSideEffect();
    }
    default:
      return false;
  }
}

// The end of a start that somebody waits for.
bool MayWait(const Instruction& i) {
  return IsAsyncDone(i.opcode()) && Moves(*i.operand(0)) && !i.IsRoot() &&
         (i.user_count() > 0 || !i.control_successors().empty());
}

}  // namespace

bool HasStarts(const Computation& computation) {
  for (const Instruction* i : computation.instructions()) {
    if (IsAsyncStart(i->opcode())) return true;
  }
  return false;
}

std::vector<Instruction*> Spreader::Run() {
  for (Instruction* i : order_) {
    if (!MayWait(*i)) Emit(i);
  }
  return std::move(result_);
}

bool Spreader::IsReady(const Instruction& i) const {
  const auto is_emitted = [&](const Instruction* o) {
    return emitted_.contains(o);
  };
  return std::all_of(i.operands().begin(), i.operands().end(), is_emitted) &&
         std::all_of(i.control_predecessors().begin(),
                     i.control_predecessors().end(), is_emitted);
}

void Spreader::Emit(Instruction* i) {
  if (!emitted_.insert(i).second) return;
  // In order but for ends that waited for this.
  for (Instruction* o : i->operands()) Emit(o);
  for (Instruction* o : i->control_predecessors()) Emit(o);
  result_.push_back(i);
  const auto start = [&](Instruction* user) {
    if (Moves(*user) && IsReady(*user)) Emit(user);
  };
  for (Instruction* user : i->users()) start(user);
  for (Instruction* user : i->control_successors()) start(user);
}

}  // namespace ptxla::hlo
