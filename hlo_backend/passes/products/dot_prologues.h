// Which work in front of a computation's dots is done inside their kernels.
//
//   DotPrologues prologues(order, nodes, policy);
//   if (prologues.Fits(dot, 0)) ...   // the work behind its left operand
//
// Work behind a value that dots alone read, each as one operand, and that
// nobody else needs, is claimed: it is done there, whatever it reads. Where
// there are several dots (a gradient by inputs and one by weights), only if
// that takes no longer than to store it (ProloguePolicy::IsRepeated). So is
// asked of what other work reads as well, which may be of fewer arrays.
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_DOT_PROLOGUES_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_DOT_PROLOGUES_H_

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "hlo_backend/passes/fusion/fusion_nodes.h"
#include "hlo_backend/passes/fusion/prologue_policy.h"

namespace ptxla::hlo {

class DotPrologues {
 public:
  // Claims by the roles of `nodes`, which must outlive this; Fits() asks what
  // is behind an operand, which must have been described by then.
  DotPrologues(absl::Span<Instruction* const> order, const FusionNodes& nodes,
               const ProloguePolicy& policy);

  bool IsClaimed(const Instruction& value) const {
    return claimed_.contains(&value);
  }
  // Is the work behind the operand done in the dot's kernel?
  bool Fits(const Instruction& dot, int operand) const;
  // Does nothing but dots read the value, each able to do the arithmetic behind
  // it?
  bool FitsAllUses(const Instruction& value) const;
  // Conversions alone: the MXU's operands are rounded on their way in anyway.
  // `value` is what the product reads.
  bool ConvertsFit(const Instruction& product, const Instruction& value) const;

 private:
  void Claim(const Instruction& value);
  bool ArithmeticFits(const Instruction& dot, int operand) const;

  const FusionNodes& nodes_;
  const ProloguePolicy policy_;
  absl::flat_hash_set<const Instruction*> claimed_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_DOT_PROLOGUES_H_
