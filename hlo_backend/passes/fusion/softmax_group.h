// Which instructions are one kernel of a softmax (softmax_fusion.h): a reduce
// along rows, what comes behind it without a way around, and elementwise work
// in front that nobody else reads.
//
//   SoftmaxGroup group(order, chip);       // of a computation, operands first
//   if (StartsSoftmax(*order[n], rank) && group.Gather(n)) {
//     ... group.members()                  // {subtract, exp, reduce, divide}
//   }
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_SOFTMAX_GROUP_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_SOFTMAX_GROUP_H_

#include <cstddef>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "chips/chip_spec.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/passes/fusion/instruction_set.h"
#include "hlo_backend/passes/fusion/unfinished_scores.h"

namespace ptxla::hlo {

// A reduce that a kernel may begin at, of arrays of that many dimensions or
// more.
bool StartsSoftmax(const Instruction& i, int least_rank);

class SoftmaxGroup {
 public:
  // Both must outlive it.
  SoftmaxGroup(const std::vector<Instruction*>& order,
               const chips::ChipSpec& chip)
      : order_(order), scores_(order, chip) {}

  // Of the kernel that begins at the reduce `order[first]`. False: there is
  // none, the reduce is stored or a product goes on with it.
  bool Gather(size_t first);

  // Of the last that was gathered, in order.
  const std::vector<Instruction*>& members() const { return in_order_; }
  Instruction* start() const { return start_; }
  bool Contains(const Instruction* i) const { return members_.contains(i); }
  bool UsedOutside(const Instruction& i) const;

 private:
  void FindPositions();
  size_t PositionOf(const Instruction* i) const { return position_[i->id()]; }
  void GatherBehind(size_t first);
  size_t LastReader(const Instruction& i) const;
  bool Fits(const Instruction& i) const;
  bool IsFinishedByProduct() const;
  bool IsResult(const Instruction& i) const;
  bool StoreWhatOthersNeed();
  bool Leaves(const Instruction& small) const;
  void LeaveWhatStoredValuesGive();
  void AddProducers();

  const std::vector<Instruction*>& order_;
  std::vector<int> position_;  // in it, by id
  const UnfinishedScores scores_;
  // Of the kernel at hand.
  Instruction* start_ = nullptr;
  const Shape* rows_ = nullptr;
  InstructionSet members_, behind_;
  std::vector<Instruction*> gathered_;  // from the start on
  std::vector<Instruction*> in_order_;  // all members
  absl::flat_hash_set<const Instruction*> stored_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_SOFTMAX_GROUP_H_
