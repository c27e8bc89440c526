// A growing partition of a computation into kernels that stays free of cycles.
//
// Every group has a level, and every dependence goes from a lower to a higher
// one. Two groups of one level cannot depend on one another; others are
// raised, with all that depends on them, until they are level, unless that
// leads back to the other.
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_GROUPS_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_GROUPS_H_

#include <vector>

#include "absl/types/span.h"

namespace ptxla::hlo {

class FusionGroups {
 public:
  // A new group that depends on these; its number.
  int Add(absl::Span<const int> dependences);
  // The number that a group goes by after merges.
  int Find(int group) const;
  int level(int group) const { return groups_[Find(group)].level; }
  int count() const { return static_cast<int>(groups_.size()); }

  // Adds dependences to a group. False, and nothing changes, if one of them
  // depends on the group.
  bool AddDependences(int group, absl::Span<const int> dependences);
  // Makes one group of two: Find(a) == Find(b) afterwards. False, and nothing
  // changes, if something outside lies between them, or the search for it
  // took too long.
  bool Merge(int a, int b);

 private:
  struct Group {
    int level = 0;
    mutable int parent = -1;  // merged into
    std::vector<int> successors;
  };
  // Raises a group and what depends on it; false at a forbidden group.
  bool Raise(int group, int level, int skip);
  void Undo();

  std::vector<Group> groups_;
  std::vector<int> forbidden_;
  std::vector<std::pair<int, int>> log_;  // group, level before
  int budget_ = 0;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_GROUPS_H_
