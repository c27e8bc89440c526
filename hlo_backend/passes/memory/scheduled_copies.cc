#include "hlo_backend/passes/memory/scheduled_copies.h"

#include <algorithm>

namespace ptxla::hlo {
namespace {

std::vector<Instruction*> InstructionsOf(const Computation& c) {
  std::vector<Instruction*> order;
  for (Instruction* i : c.instructions()) order.push_back(i);
  return order;
}

}  // namespace

ScheduledCopies::ScheduledCopies(Computation* c)
    : c_(c), order_(InstructionsOf(*c)), positions_(PositionsOf(*c)) {}

Instruction* ScheduledCopies::AddBefore(Instruction* user, Instruction* made) {
  SetPosition(made, user);
  before_[user].push_back(made);
  return made;
}

Instruction* ScheduledCopies::CopyBefore(Instruction* user,
                                         Instruction* value) {
  Instruction* copy = c_->Add(Opcode::kCopy, value->shape(), {value});
  copy->set_metadata(value->shared_metadata());
  copies_[copy] = user;
  return AddBefore(user, copy);
}

absl::Span<Instruction* const> ScheduledCopies::From(
    const Instruction* copy) const {
  const auto it = copies_.find(copy);
  if (it == copies_.end()) return {};
  const std::vector<Instruction*>& all = before_.at(it->second);
  const auto first = std::find(all.begin(), all.end(), copy);
  return absl::MakeConstSpan(all).subspan(first - all.begin());
}

void ScheduledCopies::Reorder() {
  std::vector<Instruction*> result;
  const auto emit = [&](Instruction* i) {
    auto it = before_.find(i);
    if (it != before_.end()) {
      for (Instruction* copy : it->second) result.push_back(copy);
    }
    result.push_back(i);
  };
  Instruction* root = c_->root();
  for (Instruction* i : order_) {
    if (i == root) continue;
    emit(i);
  }
  emit(root);
  c_->Reorder(result);
}

}  // namespace ptxla::hlo
