#include "hlo_backend/passes/products/score_group.h"

#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/ir/dimensions.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/fusion/finished_columns.h"
#include "hlo_backend/passes/memory/memory_space_assignment.h"
#include "hlo_backend/passes/products/in_tiles.h"
#include "hlo_backend/passes/products/score_leaves.h"
#include "hlo_backend/passes/products/spread_groups.h"

namespace ptxla::hlo {
namespace {

constexpr size_t kMostMembers = 256;

// Few queries leave most of their lanes empty: no more of them than this.
constexpr int64_t kMostPadding = 2;

// Bytes of its operands, as the products of each head read them.
int64_t OperandBytes(const Instruction& dot) {
  const Shape& lhs = dot.operand(0)->shape();
  const Shape& rhs = dot.operand(1)->shape();
  int64_t heads = 1;
  for (int d = rhs.rank() - 2; d < dot.shape().rank() - 2; ++d) {
    heads *= dot.shape().dim(d);
  }
  return lhs.ByteSize() + heads * rhs.ByteSize();
}

// The product of rows that a reshape has joined of several heads', which
// share what they are multiplied with; else null.
const Instruction* ReaderOfRows(const Instruction& reshape) {
  if (reshape.opcode() != Opcode::kReshape || reshape.user_count() != 1 ||
      reshape.IsRoot() || HasControlEdges(reshape)) {
    return nullptr;
  }
  const Instruction* dot = reshape.users()[0];
  return dot->opcode() == Opcode::kDot && dot->operand(0) == &reshape &&
                 SharesPlanes(*dot)
             ? dot
             : nullptr;
}

}  // namespace

bool IsGrouped(const Instruction& dot) {
  return dot.operand(0)->shape().rank() > dot.operand(1)->shape().rank() &&
         SharesPlanes(dot);
}

bool AreScores(const Instruction& dot) {
  const auto& a = dot.attrs<DotAttrs>();
  const auto matrix =
      static_cast<int>(a.lhs_batch.size() + a.lhs_contracting.size()) + 1;
  if (dot.shape().has_layout() || !a.sparsity.empty() || HasControlEdges(dot) ||
      dot.IsRoot() || dot.operand(1)->shape().rank() != matrix) {
    return false;
  }
  return dot.operand(0)->shape().rank() == matrix || IsGrouped(dot);
}

bool ScoreGroup::Gather(Instruction* dot) {
  scores_ = &dot->shape();
  members_ = {dot};
  order_ = {dot};
  ends_.clear();
  int64_t turned = 0, operands = 0;  // bytes
  int64_t products = 0;              // whose results are there at a time
  bool reduces = false, finished = false;
  for (size_t next = 0; next < order_.size(); ++next) {
    Instruction* i = order_[next];
    if (order_.size() > kMostMembers || HasControlEdges(*i) || i->IsRoot()) {
      return false;
    }
    if (IsFreeScore(*i)) {
      turned += BytesToTurn(*i);
      continue;
    }
    if (i->opcode() == Opcode::kDot) {
      seen_.insert(i);
      if (!AreScores(*i)) return false;
      ++products;
      operands += OperandBytes(*i);
    } else if (!i->IsElementwise() || i->opcode() == Opcode::kCopy) {
      return false;
    } else {
      for (Instruction* o : i->operands()) {
        if (!o->shape().IsScalar() && !Join(o)) return false;
      }
    }
    for (Instruction* user : i->users()) {
      if (user->opcode() == Opcode::kReduce) {
        if (!MayReduce(*user)) return false;
        reduces |= Contains(user->dimensions(), Keys());
        const Instruction* scores =
            MonoidOf(*user->to_apply()) == Opcode::kMaximum
                ? ScoresBehind(*user->operand(0))
                : nullptr;
        finished |= scores != nullptr && AreFinishedScores(*scores);
        ends_.insert(user);
      } else if (user->opcode() == Opcode::kDot) {
        if (!MayMultiply(*user, *i)) return false;
        ends_.insert(user);
      } else if (const Instruction* dot = ReaderOfRows(*user)) {
        ends_.insert(dot);
      } else if (!user->IsElementwise() || !Join(user)) {
        return false;
      }
    }
  }
  const int64_t rows = scores_->dim(Keys() - 1), keys = scores_->dim(Keys());
  const int64_t area = InTiles(keys, rows);
  return reduces && turned <= operands &&
         area <= kMostPadding * InTiles(rows, keys) &&
         (!finished ||
          (products == 1 &&
           FinishesColumns(*dot, dot->operand(1)->shape(), keys, chip_)) ||
          products * scores_->ElementCount() / (rows * keys) * area * 4 <=
              RoomForResidents(chip_));
}

bool ScoreGroup::Join(Instruction* i) {
  if (!i->shape().IsArray() || !i->shape().SameDims(*scores_)) return false;
  if (members_.insert(i).second) order_.push_back(i);
  return true;
}

// One that keeps both of the last two dimensions would be turned behind.
bool ScoreGroup::MayReduce(const Instruction& reduce) const {
  return !HasControlEdges(reduce) && reduce.operand_count() == 2 &&
         (Contains(reduce.dimensions(), Keys()) ||
          Contains(reduce.dimensions(), Keys() - 1));
}

// Contracts one of them.
bool ScoreGroup::MayMultiply(const Instruction& dot,
                             const Instruction& value) const {
  const auto& a = dot.attrs<DotAttrs>();
  if (HasControlEdges(dot) || !a.sparsity.empty() || dot.shape().has_layout() ||
      dot.operand(0) == dot.operand(1)) {
    return false;
  }
  const auto& contracting =
      dot.operand(0) == &value ? a.lhs_contracting : a.rhs_contracting;
  return contracting.size() == 1 && contracting[0] >= Keys() - 1;
}

bool ScoreGroup::ReadsGroups(const Instruction& dot) const {
  const Instruction& rows = *dot.operand(0);
  return IsGrouped(dot) ||
         (rows.opcode() == Opcode::kReshape &&
          members_.contains(rows.operand(0)) && ReaderOfRows(rows) == &dot);
}

}  // namespace ptxla::hlo
