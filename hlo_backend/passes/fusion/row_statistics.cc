#include "hlo_backend/passes/fusion/row_statistics.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "chips/chip_spec.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/member_rows.h"
#include "hlo_backend/analysis/product_batch.h"
#include "hlo_backend/analysis/prologue_rules.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/fusion/finished_columns.h"
#include "hlo_backend/passes/fusion/kept_exponentials.h"
#include "hlo_backend/passes/fusion/read_operands.h"
#include "hlo_backend/passes/fusion/row_leaves.h"
#include "hlo_backend/passes/memory/memory_space_assignment.h"
#include "hlo_backend/passes/products/score_order.h"

namespace ptxla::hlo {
namespace {

// A line of results: fewer rows are done in other kernels (one-row products).

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
    std::vector<Instruction*> reduces;
    for (size_t next = 0; next < work_.size(); ++next) {
      for (Instruction* u : work_[next]->users()) {
        if (Contains(work_, u) || Contains(reduces, u) ||
            !u->control_predecessors().empty() ||
            !u->control_successors().empty()) {
          continue;
        }
        if (u->opcode() == Opcode::kReduce && IsStatistic(*u) &&
            IsRowMajor(u->shape()) && u->operand(0) == work_[next]) {
          reduces.push_back(u);
        } else if (work_.size() <= most_work_ && IsWork(*u)) {
          work_.push_back(u);
        }
      }
    }
    if (reduces.empty() || !IsStored(reduces)) return false;
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

  bool IsStatistic(const Instruction& reduce) const {
    const PrimitiveType type = reduce.shape().type();
    if (of_columns_) {
      return type == PrimitiveType::kF32 && IsMemberColumnReduce(reduce, *dot_);
    }
    // Extrema of bf16 are exact.
    return (type == PrimitiveType::kF32 || type == PrimitiveType::kBf16) &&
           IsRowReduce(reduce, *dot_);
  }

  static bool Contains(const std::vector<Instruction*>& list,
                       const Instruction* i) {
    return std::find(list.begin(), list.end(), i) != list.end();
  }

  // Whatever is done here, the product itself is what lies in memory: the other
  // readers of the work on it need the reduces, or reduce it themselves, so
  // that they are other kernels.
  bool IsStored(const std::vector<Instruction*>& reduces) const {
    for (const Instruction* w : work_) {
      if (w->IsRoot()) return false;
      for (const Instruction* u : w->users()) {
        if (Contains(work_, u) || Contains(reduces, u)) continue;
        const bool elsewhere = w == dot_ && !IsLoopElementwise(*u);
        if (!elsewhere && !IsReduced(*u) && !Needs(*u, reduces)) return false;
      }
    }
    return true;
  }

  // Only reduces read it: a pass over the product, which stores none of it.
  static bool IsReduced(const Instruction& i) {
    return IsLoopElementwise(i) && !i.IsRoot() &&
           std::all_of(i.users().begin(), i.users().end(),
                       [](const Instruction* u) {
                         return u->opcode() == Opcode::kReduce;
                       });
  }

  // Reads one of the reduces, or work on them, along the rows again.
  bool Needs(const Instruction& i,
             const std::vector<Instruction*>& reduces) const {
    return std::any_of(i.operands().begin(), i.operands().end(),
                       [&](const Instruction* o) {
                         // Values of rows are spread as f32 (row-values).
                         if (o->opcode() == Opcode::kConvert) o = o->operand(0);
                         return o->opcode() == Opcode::kBroadcast &&
                                IsOfReduces(*o->operand(0), reduces, 0);
                       });
  }
  bool IsOfReduces(const Instruction& i,
                   const std::vector<Instruction*>& reduces, int depth) const {
    if (Contains(reduces, &i)) return true;
    return depth < most_of_rows_ && i.IsElementwise() &&
           std::any_of(i.operands().begin(), i.operands().end(),
                       [&](const Instruction* o) {
                         return IsOfReduces(*o, reduces, depth + 1);
                       });
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
                         if (Contains(work_, o)) return ReadsArrays(*o);
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
        const bool inner = u == &w || Contains(group_, u) ||
                           (Contains(work_, u) && !after.contains(u));
        if (!inner) return false;
      }
    }
    return true;
  }

  bool IsWork(const Instruction& i) const {
    if (!i.shape().SameDims(dot_->shape()) || !IsLoopElementwise(i) ||
        !IsRowMajor(i.shape())) {
      return false;
    }
    return std::all_of(
        i.operands().begin(), i.operands().end(),
        [&](const Instruction* o) { return Contains(work_, o) || IsLeaf(*o); });
  }

  // Made of constants, or without the product.
  bool IsLeaf(const Instruction& o) const {
    if (IsFreeOfRows(o)) return o.opcode() != Opcode::kIota;
    if (of_columns_ && IsOtherArray(o, 0)) return true;
    // With another array of its size, it would be stored.
    return o.opcode() == Opcode::kBroadcast &&
           (o.operand(0)->shape().IsScalar() || IsSharedByRows(o, *dot_)) &&
           !NeedsProduct(*o.operand(0));
  }

  // What only the reduces of columns read may be made with other arrays of the
  // product's size (the gradient of a softmax with its exponentials), which lie
  // in memory: they, and elementwise work on them.
  bool IsOtherArray(const Instruction& o, int depth) const {
    if (depth > most_of_rows_ || !o.shape().SameDims(dot_->shape()) ||
        !IsRowMajor(o.shape()) || Contains(work_, &o)) {
      return false;
    }
    if (o.opcode() == Opcode::kBroadcast) {
      const Instruction& source = *o.operand(0);
      const bool of_columns = IsMemberColumns(o) &&
                              source.shape().type() == PrimitiveType::kF32 &&
                              source.shape().rank() == dot_->shape().rank() - 1;
      return (source.shape().IsScalar() || of_columns) && !NeedsProduct(source);
    }
    if (IsFreeOfRows(o)) return o.opcode() != Opcode::kIota;
    if (IsLoopElementwise(o) && !IsKeptExponential(o)) {
      return std::all_of(
          o.operands().begin(), o.operands().end(),
          [&](const Instruction* x) { return IsOtherArray(*x, depth + 1); });
    }
    const PrimitiveType type = o.shape().type();
    return (type == PrimitiveType::kF32 || type == PrimitiveType::kBf16) &&
           !NeedsProduct(o);
  }

  bool NeedsProduct(const Instruction& value) const {
    std::vector<const Instruction*> open = {&value};
    absl::flat_hash_set<const Instruction*> seen = {&value};
    while (!open.empty()) {
      const Instruction* i = open.back();
      open.pop_back();
      if (i == dot_) return true;
      const auto at = position_.find(i);
      // Operands come before their users.
      if (at != position_.end() && at->second < position_.at(dot_)) continue;
      for (const Instruction* o : i->operands()) {
        if (seen.insert(o).second) open.push_back(o);
      }
    }
    return false;
  }

  Instruction* Inside(Instruction* value) {
    const bool copied =
        Contains(work_, value) || IsFreeOfRows(*value) ||
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
