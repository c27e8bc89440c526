#include "hlo_backend/passes/fusion/fusion_groups.h"

#include <algorithm>

namespace ptxla::hlo {
namespace {

// Groups raised in one search. Real dependences that block a fusion are near;
// a search that goes far leads into another part of the model.
constexpr int kBudget = 256;

}  // namespace

int FusionGroups::Find(int group) const {
  int root = group;
  while (groups_[root].parent >= 0) root = groups_[root].parent;
  while (groups_[group].parent >= 0) {
    const int next = groups_[group].parent;
    groups_[group].parent = root;
    group = next;
  }
  return root;
}

int FusionGroups::Add(absl::Span<const Dependence> dependences) {
  const int me = count();
  Group group;
  for (const Dependence& d : dependences) {
    group.level = std::max(group.level, level(d.group) + 1);
  }
  groups_.push_back(std::move(group));
  for (const Dependence& d : dependences) {
    groups_[Find(d.group)].successors.push_back({me, d.hard});
  }
  return me;
}

bool FusionGroups::Raise(int group, int level, int skip) {
  if (groups_[group].level >= level) return true;
  if (group == forbidden_ || --budget_ < 0) return false;
  log_.push_back({group, groups_[group].level});
  groups_[group].level = level;
  for (const Dependence& s : groups_[group].successors) {
    const int next = Find(s.group);
    if (next == group || (next == skip && !s.hard)) continue;
    if (!Raise(next, level + 1, -1)) return false;
  }
  return true;
}

void FusionGroups::Undo() {
  for (size_t k = log_.size(); k-- > 0;) {
    groups_[log_[k].first].level = log_[k].second;
  }
}

bool FusionGroups::Merge(int a, int b) {
  a = Find(a);
  b = Find(b);
  if (a == b) return true;
  if (groups_[a].level > groups_[b].level) std::swap(a, b);
  forbidden_ = b;
  log_.clear();
  budget_ = kBudget;
  // Soft edges from a straight to b vanish in the merge; any other way would
  // be a cycle. With nothing between, a may be as late as b.
  const int level = groups_[b].level;
  if (groups_[a].level < level && !Raise(a, level, b)) {
    Undo();
    return false;
  }
  groups_[a].parent = b;
  std::vector<Dependence>& to = groups_[b].successors;
  to.insert(to.end(), groups_[a].successors.begin(),
            groups_[a].successors.end());
  groups_[a].successors.clear();
  groups_[a].successors.shrink_to_fit();
  return true;
}

}  // namespace ptxla::hlo
