#include "hlo_backend/ir/user_list.h"

namespace ptxla::hlo {

int UserList::Find(const Instruction* user) const {
  if (index_) {
    auto it = index_->find(user);
    return it == index_->end() ? -1 : it->second;
  }
  // The newest users are asked for most often.
  for (int i = static_cast<int>(list_.size()) - 1; i >= 0; --i) {
    if (list_[i] == user) return i;
  }
  return -1;
}

void UserList::Add(Instruction* user) {
  if (Find(user) >= 0) return;
  const int position = static_cast<int>(list_.size());
  list_.push_back(user);
  if (index_) {
    index_->emplace(user, position);
  } else if (position >= kLinear) {
    index_ = std::make_unique<absl::flat_hash_map<const Instruction*, int>>();
    for (int i = 0; i <= position; ++i) index_->emplace(list_[i], i);
  }
}

void UserList::Remove(Instruction* user) {
  const int position = Find(user);
  if (position < 0) return;
  Instruction* last = list_.back();
  list_[position] = last;
  list_.pop_back();
  if (index_) {
    (*index_)[last] = position;
    index_->erase(user);
  }
}

void UserList::Clear() {
  list_.clear();
  index_.reset();
}

}  // namespace ptxla::hlo
