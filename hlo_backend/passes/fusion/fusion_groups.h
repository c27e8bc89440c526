// A growing partition of a computation into kernels that stays free of cycles.
//
// Every group has a level, and every dependence goes from a lower to a higher
// one. A dependence is soft where the reader can take the value inside one
// kernel (element by element), and hard where the value must be complete first
// (the result of a reduce, the operand of a dot): two groups with a hard
// dependence are never merged.
//
// Two groups of one level cannot depend on one another; others are raised, with
// all that depends on them, until they are level, unless that leads back to the
// other.
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_FUSION_GROUPS_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_FUSION_GROUPS_H_

#include <vector>

#include "absl/types/span.h"

namespace ptxla::hlo {

class FusionGroups {
 public:
  struct Dependence {
    int group = 0;
    bool hard = true;
  };
  // A new group that depends on these; its number.
  int Add(absl::Span<const Dependence> dependences);
  // The number that a group goes by after merges.
  int Find(int group) const;
  int level(int group) const { return groups_[Find(group)].level; }
  int count() const { return static_cast<int>(groups_.size()); }

  // Makes one group of two: Find(a) == Find(b) afterwards. False, and nothing
  // changes, if something outside lies between them, one needs the other
  // complete, or the search took too long.
  bool Merge(int a, int b);

 private:
  struct Group {
    int level = 0;
    mutable int parent = -1;             // merged into
    std::vector<Dependence> successors;  // the groups that depend on it
  };
  // Raises a group and what depends on it, but for soft dependences straight
  // to `skip`; false at the forbidden group.
  bool Raise(int group, int level, int skip);
  void Undo();

  std::vector<Group> groups_;
  int forbidden_ = -1;
  std::vector<std::pair<int, int>> log_;  // group, level before
  int budget_ = 0;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_FUSION_GROUPS_H_
