// All that hangs together with the scores of an attention through elementwise
// work of their shape, and what it ends in: what changes where keys are to come
// before queries (keys_first.h).
//
//   %s = f32[b,h,queries,keys] dot(%q, %k)
//   %e = f32[b,h,queries,keys] exponential(%s)     // members: %s, %e
//   %t = f32[b,h,queries] reduce(%e)               // ends: %t and %o
//   %o = dot(%v, %e), rhs_contracting_dims={3}
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SCORE_GROUP_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SCORE_GROUP_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "chips/chip_spec.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Queries of several heads, dimensions of the product, read the same keys.
bool IsGrouped(const Instruction& dot);

// [batch..., queries, keys] of two operands with one free dimension each, or
// of queries whose groups share their keys: the operands may change places.
bool AreScores(const Instruction& dot);

class ScoreGroup {
 public:
  // `chip` must outlive it.
  explicit ScoreGroup(const chips::ChipSpec& chip) : chip_(chip) {}

  // All around the product `dot`, for which AreScores. False: something in it
  // needs their order, or keys first are not worth it.
  bool Gather(Instruction* dot);

  // A product that some group had, one that was given up too.
  bool WasSeen(const Instruction* i) const { return seen_.contains(i); }

  // Of the last that was gathered.
  bool IsMember(const Instruction* i) const { return members_.contains(i); }
  // Reduces the scores, or multiplies them.
  bool IsEnd(const Instruction* i) const { return ends_.contains(i); }
  // An end whose rows are those of several heads.
  bool ReadsGroups(const Instruction& dot) const;
  int rank() const { return scores_->rank(); }
  // The dimension of the keys, behind that of the queries.
  int64_t Keys() const { return scores_->rank() - 1; }

 private:
  bool Join(Instruction* i);
  bool MayReduce(const Instruction& reduce) const;
  bool MayMultiply(const Instruction& dot, const Instruction& value) const;

  const chips::ChipSpec& chip_;
  absl::flat_hash_set<const Instruction*> seen_;
  const Shape* scores_ = nullptr;  // at hand
  absl::flat_hash_set<const Instruction*> members_, ends_;
  std::vector<Instruction*> order_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SCORE_GROUP_H_
