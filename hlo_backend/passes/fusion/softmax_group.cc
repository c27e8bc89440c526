#include "hlo_backend/passes/fusion/softmax_group.h"

#include <algorithm>
#include <cstdint>
#include <set>

#include "hlo_backend/analysis/extremum_position.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/ir/dimensions.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/fusion/prologue_policy.h"
#include "hlo_backend/passes/fusion/row_leaves.h"

namespace ptxla::hlo {
namespace {

constexpr size_t kMostMembers = 64;

// libtpu 0.0.42.1, v4 to tpu7x, softmaxes along 512 to 524,288 numbers: no
// longer rows are written so (8,192 are, 12,288 not), and of two reduces only
// where rows are no longer than the second number (4,096; 6,000 not).
constexpr int64_t kLongestRow = 8192;
constexpr int64_t kLongestOfTwo = 4096;

int64_t RowLength(const Instruction& reduce) {
  return reduce.operand(0)->shape().dim(
      static_cast<int>(reduce.dimensions()[0]));
}

// Rounded to a type that no chip has. Of extrema of f16 nothing is rounded, and
// a rounding to bf16 is undone by who reads it.
bool IsSumInF16(const Instruction& convert) {
  const Opcode op = *MonoidOf(*convert.operand(0)->to_apply());
  return convert.shape().type() == PrimitiveType::kF16 &&
         op != Opcode::kMaximum && op != Opcode::kMinimum;
}

bool LeavesFit(const Instruction& i) {
  return std::all_of(i.operands().begin(), i.operands().end(),
                     [](const Instruction* o) {
                       return o->shape().IsScalar() || IsRowMajor(o->shape());
                     });
}

}  // namespace

// An extremum whose position alone is asked for is found with it, in one pass
// over whole rows or parts of them (lowering/fusion/position_fold.h).
bool StartsSoftmax(const Instruction& i, int least_rank) {
  return i.opcode() == Opcode::kReduce &&
         i.operand(0)->shape().rank() >= least_rank &&
         IsRowMajor(i.operand(0)->shape()) && ReducesInTiles(i) &&
         RowLength(i) <= kLongestRow && IsBroadcastAgain(i) &&
         !IsForPositionsOnly(i);
}

bool SoftmaxGroup::Gather(size_t first) {
  FindPositions();
  start_ = order_[first];
  rows_ = &start_->operand(0)->shape();
  stored_ = scores_.divisors();
  do GatherBehind(first);
  while (StoreWhatOthersNeed());
  if (stored_.contains(start_) || IsFinishedByProduct()) return false;
  LeaveWhatStoredValuesGive();
  AddProducers();
  return true;
}

void SoftmaxGroup::FindPositions() {
  if (!position_.empty()) return;
  for (size_t n = 0; n < order_.size(); ++n) {
    const int id = order_[n]->id();
    if (id >= static_cast<int>(position_.size())) position_.resize(id + 1);
    position_[id] = static_cast<int>(n);
  }
}

// What comes behind the reduce without a way around. Of a reduce that is
// stored, nothing behind it joins.
void SoftmaxGroup::GatherBehind(size_t first) {
  members_.clear();
  behind_.clear();
  gathered_ = {start_};
  members_.insert(start_);
  // Behind the last that may join there is nothing to look for.
  size_t last = LastReader(*start_);
  for (size_t n = first + 1; n <= last; ++n) {
    Instruction* i = order_[n];
    bool reads = false, behind = false;
    const auto look = [&](const Instruction* o) {
      const bool member = members_.contains(o);
      reads |= member;
      behind |= behind_.contains(o) || (member && IsResult(*o));
    };
    for (const Instruction* o : i->operands()) look(o);
    for (const Instruction* o : i->control_predecessors()) look(o);
    if (!reads && !behind) continue;
    if (reads && !behind && gathered_.size() < kMostMembers && Fits(*i)) {
      members_.insert(i);
      gathered_.push_back(i);
      last = std::max(last, LastReader(*i));
    } else {
      behind_.insert(i);
    }
  }
}

// Of those that may join.
size_t SoftmaxGroup::LastReader(const Instruction& i) const {
  size_t last = 0;
  for (const Instruction* user : i.users()) {
    if (Fits(*user)) last = std::max(last, PositionOf(user));
  }
  return last;
}

// Values per column whose rows are finished in front of the one product that
// reads them, under its matmuls: the reduces alone are left to be made.
bool SoftmaxGroup::IsFinishedByProduct() const {
  const Shape& source = start_->operand(0)->shape();
  if (scores_.IsMadeOf(*start_->operand(0), RowLength(*start_))) return false;
  if (start_->dimensions().size() != 1 ||
      start_->dimensions()[0] != source.rank() - 2) {
    return false;
  }
  const Instruction* product = nullptr;
  for (const Instruction* i : gathered_) {
    for (const Instruction* user : i->users()) {
      if (members_.contains(user)) continue;
      if (user->opcode() != Opcode::kDot || product != nullptr) return false;
      const int operand = user->operand(0) == i ? 0 : 1;
      if (!PrologueForm(*user, operand)) return false;
      product = user;
    }
  }
  return product != nullptr;
}

bool SoftmaxGroup::IsResult(const Instruction& i) const {
  return i.opcode() == Opcode::kReduce && members_.contains(&i) &&
         (stored_.contains(&i) || !IsBroadcastAgain(i));
}

bool SoftmaxGroup::UsedOutside(const Instruction& i) const {
  return i.IsRoot() || std::any_of(i.users().begin(), i.users().end(),
                                   [&](const Instruction* u) {
                                     return !members_.contains(u);
                                   });
}

// A reduce whose broadcasts somebody else reads is stored. True: one more is.
bool SoftmaxGroup::StoreWhatOthersNeed() {
  bool more = false;
  for (const Instruction* i : gathered_) {
    if (i->opcode() == Opcode::kReduce && !IsResult(*i) && Leaves(*i)) {
      more |= stored_.insert(i).second;
    }
  }
  return more;
}

// The values per row, or their broadcasts, are read outside.
bool SoftmaxGroup::Leaves(const Instruction& small) const {
  if (UsedOutside(small)) return true;
  return std::any_of(small.users().begin(), small.users().end(),
                     [&](const Instruction* user) {
                       return user->opcode() == Opcode::kConvert &&
                                      user->shape().SameDims(small.shape())
                                  ? Leaves(*user)
                                  : UsedOutside(*user);
                     });
}

bool SoftmaxGroup::Fits(const Instruction& i) const {
  if (HasControlEdges(i) || scores_.IsLeftToProduct(i)) return false;
  if (i.opcode() == Opcode::kReduce) {
    return (RowLength(*start_) <= kLongestOfTwo ||
            scores_.divisors().contains(&i)) &&
           i.dimensions() == start_->dimensions() &&
           i.operand(0)->shape().SameDims(*rows_) && IsFusibleReduce(i);
  }
  if (i.opcode() == Opcode::kBroadcast) return i.shape().SameDims(*rows_);
  // Values per row on their way.
  if (i.opcode() == Opcode::kConvert && i.shape().rank() < rows_->rank()) {
    return i.operand(0)->opcode() == Opcode::kReduce &&
           IsBroadcastAgain(*i.operand(0)) && !IsSumInF16(i);
  }
  return IsLoopElementwise(i) && i.shape().SameDims(*rows_) &&
         IsRowMajor(i.shape()) && LeavesFit(i);
}

// Work on what is stored anyway is not stored beside it: whoever reads it
// makes it again (a cross entropy reads x - m and e^(x - m); libtpu 0.0.42.1
// stores the first).
void SoftmaxGroup::LeaveWhatStoredValuesGive() {
  for (auto it = gathered_.rbegin(); it != gathered_.rend(); ++it) {
    Instruction* i = *it;
    if (!IsLoopElementwise(*i)) continue;
    const bool read_inside = std::any_of(
        i->users().begin(), i->users().end(),
        [&](const Instruction* user) { return members_.contains(user); });
    if (read_inside || i->IsRoot()) continue;
    const auto& operands = i->operands();
    const bool given = std::all_of(
        operands.begin(), operands.end(), [&](const Instruction* o) {
          return members_.contains(o) && o->shape().SameDims(*rows_) &&
                 o->shape().type() == i->shape().type() &&
                 o->opcode() != Opcode::kBroadcast && UsedOutside(*o);
        });
    if (given) members_.erase(i);
  }
}

// Elementwise work in front that only members read, the nearest first. Then
// all members, in order.
void SoftmaxGroup::AddProducers() {
  in_order_.clear();
  for (Instruction* i : gathered_) {
    if (members_.contains(i)) in_order_.push_back(i);
  }
  std::set<size_t> open;  // positions
  const auto look_in_front = [&](const Instruction& i) {
    for (const Instruction* o : i.operands()) {
      if (PositionOf(o) < PositionOf(start_)) open.insert(PositionOf(o));
    }
  };
  for (const Instruction* i : in_order_) look_in_front(*i);
  std::vector<Instruction*> producers;
  while (!open.empty() && in_order_.size() + producers.size() < kMostMembers) {
    Instruction* i = order_[*open.rbegin()];
    open.erase(PositionOf(i));
    if (UsedOutside(*i) || HasControlEdges(*i) || !IsLoopElementwise(*i) ||
        !i->shape().SameDims(*rows_) || !IsRowMajor(i->shape()) ||
        !LeavesFit(*i) || scores_.StaysBehindProduct(*i, RowLength(*start_))) {
      continue;
    }
    members_.insert(i);
    producers.push_back(i);
    look_in_front(*i);
  }
  in_order_.insert(in_order_.begin(), producers.rbegin(), producers.rend());
}

}  // namespace ptxla::hlo
