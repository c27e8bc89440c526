#include "hlo_backend/passes/layout/point_group.h"

#include <algorithm>

#include "chips/compiler_policy.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/dimension_order.h"
#include "hlo_backend/passes/layout/in_order.h"
#include "hlo_backend/passes/layout/point_work.h"
#include "hlo_backend/passes/loops/loop_elements.h"

namespace ptxla::hlo {
namespace {

bool IsBodyOfPlainLoop(const Computation& c) {
  const Instruction* loop = LoopOf(c);
  return loop != nullptr && IsPlainLoop(*loop);
}

bool IsLoneProduct(const Instruction& i) {
  return i.opcode() == Opcode::kDot && i.user_count() == 1;
}

// A product that has the numbers as batch, and them in front anyway.
bool IsBatchOf(const Instruction& user, const Instruction& i) {
  if (user.opcode() != Opcode::kDot) return false;
  const DotAttrs& a = user.attrs<DotAttrs>();
  const int64_t last = i.shape().rank() - 1;
  return (user.operand(0) != &i || Contains(a.lhs_batch, last)) &&
         (user.operand(1) != &i || Contains(a.rhs_batch, last));
}

}  // namespace

PointGroup::PointGroup(Computation* c, int generation)
    : c_(c), generation_(generation), is_loop_(IsBodyOfPlainLoop(*c)) {}

void PointGroup::Gather(Instruction* first,
                        absl::flat_hash_set<Instruction*>* seen) {
  order_ = {first};
  members_ = {first};
  for (size_t next = 0; next < order_.size(); ++next) {
    Instruction* i = order_[next];
    for (Instruction* o : i->operands()) Join(*i, o);
    for (Instruction* u : i->users()) Join(*i, u);
  }
  seen->insert(order_.begin(), order_.end());
  ChooseOrder();
}

// With as many numbers as what it is next to, or some of them, or more.
void PointGroup::Join(const Instruction& from, Instruction* i) {
  if (i->shape().IsArray() && HasFewNumbers(*i) && IsPointWork(*i) &&
      (i->shape().dims().back() == from.shape().dims().back() ||
       CutsNumbers(*i) || CutsNumbers(from)) &&
      members_.insert(i).second) {
    order_.push_back(i);
  }
}

// In the rows of tiles, where they fill these as well as planes would: points
// that are cut along an outer dimension are whole tiles then.
void PointGroup::ChooseOrder() {
  int64_t planes = 0, rows = 0;
  bool cuts = false;
  bool carries = false, multiplies = false;
  for (const Instruction* i : order_) {
    cuts |= CutsPoints(*i);
    for (const Instruction* o : i->operands()) {
      carries |= IsState(*o);
      multiplies |= IsLoneProduct(*o);
    }
    in_rows_ = false;
    planes = std::max(planes, Bytes(*i, /*planes=*/true));
    in_rows_ = true;
    rows = std::max(rows, Bytes(*i, /*planes=*/true));
  }
  turns_products_ = carries && multiplies && rows <= planes;
  in_rows_ = (cuts || turns_products_) && rows <= planes;
}

// A product whose rows and columns change places, at no cost.
bool PointGroup::IsTurnedProduct(const Instruction& i) const {
  return turns_products_ && IsLoneProduct(i);
}

// State of the loop that only the group has, and makes the next one of: it
// will lie in the group's order (loop_transposes.h).
bool PointGroup::IsState(const Instruction& o) const {
  if (!is_loop_ || o.opcode() != Opcode::kGetTupleElement ||
      o.operand(0) != c_->parameter(0) ||
      ElementsOf(*c_->parameter(0), static_cast<int>(o.tuple_index())).size() !=
          1) {
    return false;
  }
  const auto is_member = [&](const Instruction* i) {
    return members_.contains(i);
  };
  return is_member(c_->root()->operand(static_cast<int>(o.tuple_index()))) &&
         std::all_of(o.users().begin(), o.users().end(), is_member);
}
// All that the root has of it is such state.
bool PointGroup::IsNextState(const Instruction& i) const {
  if (!is_loop_) return false;
  bool is_next = false;
  for (int k = 0; k < c_->root()->operand_count(); ++k) {
    if (c_->root()->operand(k) != &i) continue;
    const std::vector<Instruction*> names = ElementsOf(*c_->parameter(0), k);
    if (names.size() != 1 || !IsState(*names[0])) return false;
    is_next = true;
  }
  return is_next;
}

DimVector PointGroup::Order(const Instruction& i) const {
  return OrderOfRank(i.shape().rank());
}
DimVector PointGroup::OrderOfRank(int rank) const {
  DimVector order;
  for (int d = 0; d + 1 < rank; ++d) order.push_back(d);
  order.insert(in_rows_ ? order.end() - 1 : order.begin(), rank - 1);
  return order;
}

int64_t PointGroup::Bytes(const Instruction& i, bool planes) const {
  const DimVector dims =
      planes ? Permuted(i.shape().dims(), Order(i)) : i.shape().dims();
  return TpuBytes(Shape::Array(i.shape().type(), dims), generation_);
}
int64_t PointGroup::Packed(const Instruction& i) const {
  return TpuBytes(Shape::Array(i.shape().type(), i.shape().dims()),
                  generation_);
}

bool PointGroup::Reduces(const Instruction& user) {
  return user.opcode() == Opcode::kReduce && user.operand_count() == 2 &&
         !HasControlEdges(user);
}
bool PointGroup::PicksNumber(const Instruction& user) {
  return user.opcode() == Opcode::kSlice && user.shape().dims().back() == 1 &&
         !HasControlEdges(user);
}

// All that reads it whole joins its lanes, in one way; null: others.
const Instruction* PointGroup::LeavesAsLanes(const Instruction& i) const {
  const Instruction* joined = nullptr;
  if (i.IsRoot()) return nullptr;
  for (const Instruction* u : i.users()) {
    if (members_.contains(u) || Reduces(*u) || PicksNumber(*u)) continue;
    if (!JoinsLanes(*u) || HasControlEdges(*u) ||
        (joined != nullptr && !joined->shape().SameDims(u->shape()))) {
      return nullptr;
    }
    joined = u;
  }
  return joined;
}

// Somebody reads it as it was.
bool PointGroup::LeavesWhole(const Instruction& i) const {
  if (i.IsRoot()) return true;
  for (const Instruction* u : i.users()) {
    if (!members_.contains(u) && !Reduces(*u) && !PicksNumber(*u) &&
        u->opcode() != Opcode::kTranspose && !IsBatchOf(*u, i) &&
        !(u == c_->root() && IsNextState(i))) {
      return true;
    }
  }
  return false;
}

bool PointGroup::Pays() const {
  if (static_cast<int64_t>(order_.size()) >
      chips::WholePolicy("minor_planes_group"))
    return false;
  // Rows that are interleaved, and no more, are a movement's own.
  if (std::all_of(order_.begin(), order_.end(), [&](const Instruction* i) {
        return CutsNumbers(*i) && LeavesAsLanes(*i) != nullptr;
      })) {
    return false;
  }
  int64_t now = 0, then = 0;
  bool moves = false;
  absl::flat_hash_set<const Instruction*> read;
  for (const Instruction* i : order_) {
    now = std::max(now, Bytes(*i, /*planes=*/false));
    then = std::max(then, Bytes(*i, /*planes=*/true));
  }
  for (const Instruction* i : order_) {
    for (const Instruction* o : i->operands()) {
      if (o->shape().IsScalar() || members_.contains(o) ||
          !read.insert(o).second) {
        continue;
      }
      if (IsState(*o) || IsTurnedProduct(*o)) {
        now += Bytes(*o, false);
        then += Bytes(*o, true);
      } else if (IsFreeInOrder(*o)) {
        if (o->operand_count() > 0) then += 2 * Packed(*o->operand(0));
      } else if (IsOneNumber(*o)) {
        moves = true;
        now += 2 * Bytes(*o, false);
        then += 2 * Packed(*o->operand(0));
      } else {
        // (Lanes become rows before they are parted, then planes.)
        const int64_t moved = o->opcode() == Opcode::kTranspose ? 0
                              : SplitsLanes(*o) ? 4 * Packed(*o->operand(0))
                                                : Bytes(*o, false);
        moves = true;
        now += (SplitsLanes(*o) ? 2 : 1) * Bytes(*o, false);
        then += moved + 2 * Bytes(*o, true);
      }
    }
    if (const Instruction* joined = LeavesAsLanes(*i); joined != nullptr) {
      moves = true;
      now += 2 * Bytes(*i, false);
      then += 4 * Packed(*joined) + 2 * Bytes(*i, true);
    } else if (LeavesWhole(*i)) {
      moves = true;
      now += Bytes(*i, false);
      then += Bytes(*i, false) + 2 * Bytes(*i, true);
    } else if (IsNextState(*i)) {
      now += Bytes(*i, false);
      then += Bytes(*i, true);
    }
  }
  // Of what lies nowhere the tiles count.
  return moves ? then * chips::WholePolicy("reshape_gain") <= now : then < now;
}

}  // namespace ptxla::hlo
