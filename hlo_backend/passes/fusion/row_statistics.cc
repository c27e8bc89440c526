#include "hlo_backend/passes/fusion/row_statistics.h"

#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "chips/chip_spec.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/member_rows.h"
#include "hlo_backend/analysis/product_batch.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/fusion/finished_columns.h"
#include "hlo_backend/passes/fusion/kept_exponentials.h"
#include "hlo_backend/passes/fusion/read_operands.h"
#include "hlo_backend/passes/fusion/row_leaves.h"
#include "hlo_backend/passes/fusion/statistics_rules.h"
#include "hlo_backend/passes/memory/memory_space_assignment.h"
#include "hlo_backend/passes/products/score_order.h"

namespace ptxla::hlo {
namespace {

// A product whose rows are the last dimension but one, in forms that lowering
// knows.
bool HasMatrices(const Instruction& dot) {
  const DotAttrs& attrs = dot.attrs<DotAttrs>();
  const int batch = ProductBatch(dot);
  if (dot.shape().rank() != batch + 2 || attrs.rhs_contracting.size() != 1 ||
      !IsRowMajor(dot.shape()) || dot.IsRoot() ||
      !dot.control_predecessors().empty() ||
      !dot.control_successors().empty()) {
    return false;
  }
  for (int o = 0; o < 2; ++o) {
    const Shape& operand = dot.operand(o)->shape();
    const int members = OperandBatch(dot, o);
    if (operand.rank() != members + 2 ||
        (!IsRowMajor(operand) && !MembersInRows(operand, members)) ||
        (operand.type() != PrimitiveType::kBf16 &&
         operand.type() != PrimitiveType::kF32)) {
      return false;
    }
  }
  return true;
}

// A line of results: fewer rows are done in other kernels (one-row products).
bool HasLines(const Instruction& dot) {
  return dot.shape().dim(dot.shape().rank() - 2) >= kLanes;
}

class StatisticsFuser {
 public:
  StatisticsFuser(Computation* c, const chips::ChipSpec& chip)
      : c_(c),
        chip_(chip),
        order_(c->PostOrder()),
        room_(RoomForResidents(chip)),
        most_work_(static_cast<size_t>(
            chip.Policy("row_statistics_work").value_or(0))),
        most_of_rows_(
            static_cast<int>(chip.Policy("row_statistics_depth").value_or(0))) {
    for (size_t n = 0; n < order_.size(); ++n) position_[order_[n]] = n;
  }

  bool Run() {
    // Of the order, fusions take away products that are done, and reduces.
    std::vector<Instruction*> dots;
    for (Instruction* i : order_) {
      if (i->opcode() == Opcode::kDot) dots.push_back(i);
    }
    bool changed = false;
    for (Instruction* i : dots) {
      if (!HasMatrices(*i)) continue;
      const Shape& s = i->shape();
      // Of scores that are not finished the TPU compiler makes no maxima.
      const bool columns = FinishesScores(*i, s.dim(s.rank() - 2), chip_);
      const bool rows =
          HasLines(*i) && FinishesScores(*i, s.dim(s.rank() - 1), chip_);
      const bool done = (columns && Fuse(i, /*of_columns=*/true)) ||
                        (rows && Fuse(i, /*of_columns=*/false));
      changed |= done;
    }
    if (changed) c_->RemoveDead();
    return changed;
  }

 private:
  bool Fuse(Instruction* dot, bool of_columns) {
    dot_ = dot;
    of_columns_ = of_columns;
    work_ = {dot};
    const StatisticsRules rules(*dot, work_, of_columns, position_,
                                most_of_rows_);
    std::vector<Instruction*> reduces;
    for (size_t next = 0; next < work_.size(); ++next) {
      for (Instruction* u : work_[next]->users()) {
        if (absl::c_linear_search(work_, u) ||
            absl::c_linear_search(reduces, u) ||
            !u->control_predecessors().empty() ||
            !u->control_successors().empty()) {
          continue;
        }
        if (u->opcode() == Opcode::kReduce && rules.IsStatistic(*u) &&
            IsRowMajor(u->shape()) && u->operand(0) == work_[next]) {
          reduces.push_back(u);
        } else if (work_.size() <= most_work_ && rules.IsWork(*u)) {
          work_.push_back(u);
        }
      }
    }
    if (reduces.empty() || !rules.IsStored(reduces)) return false;
    // Of the values that nobody stores, copies are made inside.
    group_ = ReadOperands(dot);
    group_.push_back(dot);
    inside_.clear();
    inside_[dot] = dot;
    for (Instruction* r : reduces) {
      for (int k = 0; k < r->operand_count(); ++k) {
        Instruction* value = Inside(r->operand(k));
        if (value != r->operand(k)) r->ReplaceOperand(k, value);
      }
      group_.push_back(r);
    }
    StoreLast();
    const auto metadata = dot->shared_metadata();
    for (const Instruction* i : group_) position_.erase(i);
    Instruction* fusion =
        c_->CreateFusion(group_, FusionKind::kOutput, "rows_fusion");
    if (metadata != nullptr) fusion->set_metadata(metadata);
    return true;
  }

  // Where all others go on from one value that the reduces need too (masked
  // scores), that is stored, not the product: nobody does the work again.
  void StoreLast() {
    Instruction* last = nullptr;
    for (Instruction* w : work_) {
      if (w != dot_ && inside_.contains(w) && IsAsSmall(*w) &&
          AllReadersNeed(*w)) {
        last = w;
      }
    }
    if (last == nullptr) return;
    last->ReplaceAllUsesWith(inside_.at(last));
    for (size_t n = work_.size(); n-- > 1;) {
      if (work_[n]->user_count() > 0) continue;
      position_.erase(work_[n]);
      c_->Remove(work_[n]);
    }
  }

  // Takes no more HBM than the product: none, if it stays in VMEM. There it
  // takes more room, which is worth it if others would read a mask, or a bias,
  // once more each.
  bool IsAsSmall(const Instruction& w) const {
    if (w.shape().type() == dot_->shape().type()) return true;
    return w.shape().type() == PrimitiveType::kF32 &&
           w.shape().ElementCount() * 4 <= room_ && ReadsArrays(w);
  }

  // `w` is made of the product and of other arrays.
  bool ReadsArrays(const Instruction& w) const {
    return std::any_of(w.operands().begin(), w.operands().end(),
                       [&](const Instruction* o) {
                         if (o == dot_) return false;
                         if (absl::c_linear_search(work_, o)) {
                           return ReadsArrays(*o);
                         }
                         return !IsFreeOfRows(*o);
                       });
  }

  // What is made of the product without `w` has no readers outside, nor has it
  // any together with `w`.
  bool AllReadersNeed(const Instruction& w) const {
    absl::flat_hash_set<const Instruction*> after = {&w};
    for (const Instruction* x : work_) {  // operands first
      for (const Instruction* o : x->operands()) {
        if (after.contains(o)) after.insert(x);
      }
    }
    for (const Instruction* x : work_) {
      if (after.contains(x)) continue;
      for (const Instruction* u : x->users()) {
        const bool inner =
            u == &w || absl::c_linear_search(group_, u) ||
            (absl::c_linear_search(work_, u) && !after.contains(u));
        if (!inner) return false;
      }
    }
    return true;
  }

  Instruction* Inside(Instruction* value) {
    const bool copied =
        absl::c_linear_search(work_, value) || IsFreeOfRows(*value) ||
        value->opcode() == Opcode::kBroadcast ||
        (of_columns_ && value != dot_ && IsLoopElementwise(*value) &&
         !IsKeptExponential(*value));
    if (const auto it = inside_.find(value); it != inside_.end()) {
      return it->second;
    }
    if (!copied) return value;
    std::vector<Instruction*> operands;
    for (Instruction* o : value->operands()) {
      operands.push_back(value->opcode() == Opcode::kBroadcast &&
                                 !IsFreeOfRows(*value)
                             ? o
                             : Inside(o));
    }
    Instruction* copy = c_->AddLike(*value, value->shape(), operands);
    inside_[value] = copy;
    group_.push_back(copy);
    return copy;
  }

  Computation* c_;
  const chips::ChipSpec& chip_;
  const std::vector<Instruction*> order_;
  const int64_t room_;      // of VMEM, for arrays that stay
  const size_t most_work_;  // operations on a product, repeated behind it
  const int most_of_rows_;  // operations on a reduce
  absl::flat_hash_map<const Instruction*, size_t> position_;
  // Of the product at hand: itself and elementwise work on it.
  const Instruction* dot_ = nullptr;
  bool of_columns_ = false;  // reduces over its rows, not along them
  std::vector<Instruction*> work_;
  absl::flat_hash_map<const Instruction*, Instruction*> inside_;
  std::vector<Instruction*> group_;
};

}  // namespace

bool OnlyStatistics(const Instruction& dot, const chips::ChipSpec& chip) {
  const Shape& s = dot.shape();
  return IsKeysFirst(dot) && s.dim(s.rank() - 2) >= kLanes &&
         s.ElementCount() * 4 > RoomForResidents(chip);
}

bool FuseRowStatistics(Computation* computation, const PassContext& context) {
  return StatisticsFuser(computation, *context.chip).Run();
}

}  // namespace ptxla::hlo
