// Copies that copy insertion puts in front of their users in a schedule, and
// the positions that all instructions have with them: a copy has that of its
// user.
//
//   ScheduledCopies copies(&computation);
//   user->ReplaceOperand(0, copies.CopyBefore(user, value));
//   copies.Reorder();                     // the schedule with the copies
#ifndef PTXLA_HLO_BACKEND_PASSES_MEMORY_SCHEDULED_COPIES_H_
#define PTXLA_HLO_BACKEND_PASSES_MEMORY_SCHEDULED_COPIES_H_

#include <map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/memory/memory_places.h"

namespace ptxla::hlo {

class ScheduledCopies {
 public:
  explicit ScheduledCopies(Computation* c);

  // The schedule before any copy.
  const std::vector<Instruction*>& order() const { return order_; }
  const Positions& positions() const { return positions_; }
  bool empty() const { return before_.empty(); }

  // A copy of `value`, the last so far in front of `user`.
  Instruction* CopyBefore(Instruction* user, Instruction* value);
  // The same of an instruction that has been made; itself.
  Instruction* AddBefore(Instruction* user, Instruction* made);
  // `made`, which is added later, counts as if it were at `user` already.
  void SetPosition(const Instruction* made, const Instruction* user) {
    positions_[made] = positions_.at(user);
  }
  // `copy` and what has been added behind it in front of the same instruction,
  // which has the same position. Of what is no copy: nothing.
  absl::Span<Instruction* const> From(const Instruction* copy) const;

  // Writes them into the computation's schedule, whose root goes to the end.
  void Reorder();

 private:
  Computation* c_;
  const std::vector<Instruction*> order_;
  Positions positions_;
  // Each with the instruction that it is in front of.
  absl::flat_hash_map<const Instruction*, const Instruction*> copies_;
  std::map<const Instruction*, std::vector<Instruction*>> before_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_MEMORY_SCHEDULED_COPIES_H_
