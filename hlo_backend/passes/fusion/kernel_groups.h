// The groups of instructions that become kernels, and which of them may be one
// kernel.
//
//   KernelGroups groups(/*most=*/100);
//   const int a = groups.Add(i, dependences, kernel);
//   if (groups.Join(groups.Of(operand), a)) ...   // one kernel makes both
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_KERNEL_GROUPS_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_KERNEL_GROUPS_H_

#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/passes/fusion/fusion_groups.h"

namespace ptxla::hlo {

// What a group's kernel is.
struct GroupKernel {
  bool fusible = false, dot = false, reduce = false;
  bool epilogue = true;  // all members may follow a dot
  // Or a convolution whose features lie in rows, which this group's is.
  bool feature_epilogue = true, features_in_rows = false;
  // Around a convolution; reads or makes arrays of 8-bit types, whose tiles
  // are taller than what a convolution's epilogue works on.
  bool convolution = false, bytes = false;
  DimVector dims, reduced;
  int members = 0;
  const Instruction* product = nullptr;  // its dot
  // Of reduces: some are over the last dimension alone, some of columns, which
  // may stand beside those (IsReduceOfColumns), some neither.
  bool of_rows = false, of_columns = false, of_others = false;
  // Pairs (rows_and_columns.h) whose first reduce a member waits for; and whose
  // other one waits for a member.
  absl::btree_set<int> waits_for, read_by;
  // Sums of one array that nothing large is made of: what reads the array as
  // late makes them as well.
  bool may_wait = false;
  // Of a group with reduces: one of them, if a product may make all.
  const Instruction* stored_reduce = nullptr;
};

class KernelGroups {
 public:
  // No more than `most` instructions are added.
  explicit KernelGroups(size_t most) {
    kernels_.reserve(most);
    group_of_.reserve(most);
  }

  // A new group, of `i` alone; its number.
  int Add(const Instruction* i,
          absl::Span<const FusionGroups::Dependence> dependences,
          GroupKernel kernel);
  // Is it worth while to make one kernel of two that share an input?
  bool AreNear(int a, int b) const;
  // Does one reduce rows alone and the other columns?
  bool AreAcross(int a, int b) const;
  // One kernel of two groups, if rules and dependences allow it.
  bool Join(int a, int b);

  // The group of an instruction, -1: it has none.
  int Of(const Instruction* i) const;
  int Find(int group) const { return groups_.Find(group); }
  int level(int group) const { return groups_.level(group); }
  int count() const { return groups_.count(); }
  const GroupKernel& kernel(int group) const { return kernels_[Find(group)]; }
  void SetDims(int group, const DimVector& dims) {
    kernels_[Find(group)].dims = dims;
  }

 private:
  bool Compatible(int a, int b) const;
  // Can one kernel make the reduces of both?
  bool ReduceTogether(const GroupKernel& x, const GroupKernel& y) const;
  static bool Follows(const GroupKernel& rest, const GroupKernel& product) {
    return product.features_in_rows ? rest.feature_epilogue : rest.epilogue;
  }
  // Can the product's kernel make all the other's reduces?
  static bool ReducesAll(const GroupKernel& product,
                         const GroupKernel& reduces) {
    return reduces.stored_reduce != nullptr &&
           IsColumnReduce(*reduces.stored_reduce, *product.product);
  }

  FusionGroups groups_;
  std::vector<GroupKernel> kernels_;  // by group number
  absl::flat_hash_map<const Instruction*, int> group_of_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_KERNEL_GROUPS_H_
