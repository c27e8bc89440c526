// Which stored values the work behind each instruction of a computation reads,
// and which work is done again in every kernel that needs it.
//
//   FusionChains chains(computation->PostOrder(), policy);
//   if (!chains.node(i).placed) ...   // a part of each kernel that reads it
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_FUSION_CHAINS_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_FUSION_CHAINS_H_

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/fusion/fusion_nodes.h"
#include "hlo_backend/passes/fusion/prologue_policy.h"
#include "hlo_backend/passes/products/dot_prologues.h"

namespace ptxla::hlo {

class FusionChains {
 public:
  // `order`: operands before users. `prologues`: which work may be done in
  // front of a product.
  FusionChains(absl::Span<Instruction* const> order,
               const ProloguePolicy& prologues);

  // nodes_ is what prologues_ asks.
  FusionChains(const FusionChains&) = delete;

  const FusionNode& node(const Instruction* i) const { return nodes_.of(i); }

  // May the work of an elementwise instruction run on a dot's result while it
  // is in registers? Beside arrays of its own shape it may read scalars and
  // 1-D arrays along the minor dimension.
  bool EpilogueFits(const Instruction& i) const {
    return Follows(i, /*features=*/false);
  }
  // The same behind a convolution with its features in rows: 1-D arrays also
  // along them.
  bool FeatureEpilogueFits(const Instruction& i) const {
    return Follows(i, /*features=*/true) && !IsMasked(i);
  }

 private:
  bool Follows(const Instruction& i, bool features) const;
  // A mask of it is stored: that would be another kernel, for which the value
  // is stored too.
  bool IsMasked(const Instruction& i) const;
  void Describe(const Instruction& i);
  bool MayBeDoneAgain(const Instruction& i, const FusionNode& node) const;
  bool ReplacesItsInput(const Instruction& i) const;
  bool IsReadOnce(const Instruction& i, const Instruction& leaf) const;
  // A bf16 vector widened for sums of products with it alone: in their kernels.
  bool IsWidenedForSums(const Instruction& i) const;
  bool NeedsMemory(const Instruction& i) const;
  // What the position of an extremum alone is made of is done in its kernel:
  // predicates are smaller than the values that they are made of.
  void ClaimPosition(const Instruction& reduce);

  FusionNodes nodes_;
  const DotPrologues prologues_;
  absl::flat_hash_set<const Instruction*> of_position_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_FUSION_CHAINS_H_
