#include "hlo_backend/passes/rewriter.h"

#include <algorithm>
#include <string>

namespace ptxla::hlo {

void Rewriter::Enqueue(Instruction* i) {
  if (i->id() >= static_cast<int>(state_.size())) state_.resize(i->id() + 1);
  if (state_[i->id()] & kQueued) return;
  state_[i->id()] |= kQueued;
  queue_.push_back({i, i->id()});
}

void Rewriter::EnqueueNew(Instruction* i) {
  if (i->id() <= newest_id_) return;
  // Operands first, and each new instruction once: it is queued after them.
  if (i->id() < static_cast<int>(state_.size()) &&
      (state_[i->id()] & kQueued)) {
    return;
  }
  for (Instruction* operand : i->operands()) EnqueueNew(operand);
  Enqueue(i);
}

void Rewriter::RemoveDead(Instruction* dead) {
  // By id too: one that waits twice is gone the second time.
  std::vector<Entry> stack = {{dead, dead->id()}};
  while (!stack.empty()) {
    auto [i, id] = stack.back();
    stack.pop_back();
    if (id >= static_cast<int>(state_.size())) state_.resize(id + 1);
    if (state_[id] & kRemoved) continue;
    if (i->user_count() > 0 || i->IsRoot() || i->HasSideEffect() ||
        i->opcode() == Opcode::kParameter || !i->control_successors().empty()) {
      continue;
    }
    const absl::InlinedVector<Instruction*, 4> operands(i->operands().begin(),
                                                        i->operands().end());
    state_[id] |= kRemoved;
    computation_->Remove(i);
    for (Instruction* operand : operands) {
      // Fewer users may let a rule of its remaining user apply.
      if (operand->user_count() == 1) Enqueue(operand->users()[0]);
      stack.push_back({operand, operand->id()});
    }
  }
}

bool Rewriter::Run(const Rule& rule) {
  for (Instruction* i : computation_->PostOrder()) {
    newest_id_ = std::max(newest_id_, i->id());
    Enqueue(i);
  }
  int64_t budget = 64 + 32 * static_cast<int64_t>(queue_.size());
  bool changed = false;
  while (!queue_.empty() && budget-- > 0) {
    auto [i, id] = queue_.front();
    queue_.pop_front();
    if (state_[id] & kRemoved) continue;
    state_[id] &= ~kQueued;
    if (i->user_count() == 0 && !i->IsRoot()) {
      continue;
    }
    builder_.set_metadata(i->shared_metadata());
    Instruction* value = rule(i, *this);
    if (value == nullptr || value == i) continue;
    changed = true;
    const bool of_its_kind =
        value->id() > newest_id_ && value->opcode() == i->opcode();
    EnqueueNew(value);
    Enqueue(value);
    newest_id_ = std::max(newest_id_, value->id());
    for (Instruction* user : i->users()) Enqueue(user);
    if (value->shared_metadata() == nullptr) {
      value->set_metadata(i->shared_metadata());
    }
    i->ReplaceAllUsesWith(value);
    i->MoveControlDependenciesTo(value);
    const std::string name = i->name();
    RemoveDead(i);
    // Reports and --explain know it by its name.
    if (of_its_kind && (state_[id] & kRemoved)) value->set_name(name);
  }
  builder_.set_metadata(nullptr);
  return changed;
}

const Literal* ScalarConstantOf(const Instruction& value) {
  const Instruction* i = &value;
  if (i->opcode() == Opcode::kBroadcast) i = i->operand(0);
  if (!i->IsConstant() || !i->shape().IsScalar()) return nullptr;
  return i->literal().IsElided() ? nullptr : &i->literal();
}

bool IsAll(const Instruction& value, double constant) {
  if (const Literal* literal = ScalarConstantOf(value)) {
    return !IsComplex(literal->shape().type()) && literal->IsAll(constant);
  }
  return value.IsConstant() && value.shape().IsArray() &&
         value.literal().IsSplat() && value.literal().IsAll(constant);
}

Instruction* BroadcastScalarOf(const Instruction& value) {
  if (value.opcode() != Opcode::kBroadcast ||
      !value.operand(0)->shape().IsScalar()) {
    return nullptr;
  }
  return value.operand(0);
}

}  // namespace ptxla::hlo
