#include "hlo_backend/passes/fusion/row_fusion.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/units.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/product_batch.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/fusion/finished_columns.h"
#include "hlo_backend/passes/fusion/product_chaining.h"
#include "hlo_backend/passes/fusion/prologue_policy.h"
#include "hlo_backend/passes/fusion/row_kernel_builder.h"
#include "hlo_backend/passes/fusion/row_kinds.h"
#include "hlo_backend/passes/fusion/row_leaves.h"
#include "hlo_backend/passes/fusion/row_statistics.h"
#include "hlo_backend/passes/fusion/row_work.h"
#include "hlo_backend/passes/scheduled/split_dot_batch.h"

namespace ptxla::hlo {
namespace {

constexpr size_t kMostRowMembers = 64;
// Members follow their product in the order of the program within so many
// instructions: the search is linear.
constexpr size_t kFurthest = 512;
constexpr int kMostDeep = 8;  // operations on another product

class RowFuser {
 public:
  RowFuser(Computation* c, const PassContext& context)
      : c_(c),
        context_(context),
        prologues_(*context.chip),
        order_(c->PostOrder()) {
    for (size_t n = 0; n < order_.size(); ++n) position_[order_[n]] = n;
  }

  bool Run() {
    for (Instruction* i : order_) {
      if (i->opcode() == Opcode::kDot && !plan_of_.contains(i)) Plan(i);
    }
    RowKernelBuilder builder(c_, *context_.chip);
    for (std::vector<Instruction*>& plan : plans_) {
      builder.Build(std::move(plan), context_.options.allow_excess_precision);
    }
    return !plans_.empty();
  }

 private:
  using Kind = RowKind;

  void Plan(Instruction* dot) {
    of_columns_ = IsOfColumns(*dot);
    if (!of_columns_ && !RowsFit(*dot, *context_.chip)) return;
    dot_ = dot;
    // A kernel that has been planned becomes one instruction: what needs one of
    // its members needs them all.
    dependent_plans_.clear();
    while (!Gather()) {
    }
    Trim();
    LeaveToNextProducts();
    if (!of_columns_ && !FinishesRows()) StoreProduct();
    std::vector<Instruction*> members;
    bool reduces = false;
    for (size_t n = position_[dot]; n < End(); ++n) {
      if (!members_.contains(order_[n])) continue;
      reduces |= order_[n]->opcode() == Opcode::kReduce;
      members.push_back(order_[n]);
    }
    const bool may_be_stored = !of_columns_ && !FinishesRows() &&
                               !dot->IsRoot() && Rows().ReadArrays() &&
                               dot->shape().type() == PrimitiveType::kF32;
    if (!reduces || (UsedOutside(*dot) && !may_be_stored) ||
        (of_columns_ && !StoresOnce(members_))) {
      return;
    }
    Absorb(&members);
    for (Instruction* i : members) plan_of_[i] = plans_.size();
    plans_.push_back(std::move(members));
  }

  // Keys are on the left, and reduced.
  bool IsOfColumns(const Instruction& dot) const {
    const int rank = dot.shape().rank();
    if (rank < 3 || rank != ProductBatch(dot) + 2 || !IsRowMajor(dot.shape()) ||
        !MeetsReduce(dot, rank - 2)) {
      return false;
    }
    const int64_t count = dot.shape().dim(rank - 2);
    if (!FinishesScores(dot, count, *context_.chip)) return false;
    const Instruction* shared = SharedMatrix(dot, 0);
    const Instruction& keys = shared != nullptr ? *shared : *dot.operand(0);
    return FinishesColumns(dot, keys.shape(), count, *context_.chip);
  }

  RowKinds Rows() const { return {*dot_, members_, of_columns_}; }

  size_t End() const {
    return std::min(order_.size(), position_.at(dot_) + kFurthest);
  }

  // False: a planned kernel turned out to need a member; once more.
  bool Gather() {
    members_.clear();
    finished_.clear();
    another_.clear();
    tainted_.clear();
    for (size_t plan : dependent_plans_) {
      tainted_.insert(plans_[plan].begin(), plans_[plan].end());
    }
    if (tainted_.contains(dot_)) return true;
    members_[dot_] = Kind::kFull;
    for (size_t n = position_[dot_] + 1; n < End(); ++n) {
      Instruction* i = order_[n];
      bool reads = false, tainted = tainted_.contains(i);
      const auto look = [&](Instruction* o) {
        reads |= members_.contains(o);
        tainted |= tainted_.contains(o);
      };
      for (Instruction* o : i->operands()) look(o);
      for (Instruction* o : i->control_predecessors()) look(o);
      if (!reads && !tainted) continue;
      const auto planned = plan_of_.find(i);
      if (planned != plan_of_.end()) {
        if (dependent_plans_.insert(planned->second).second) return false;
        continue;
      }
      const bool fits = reads && !tainted &&
                        members_.size() < kMostRowMembers &&
                        !IsForAnotherProduct(*i);
      const Kind kind = fits ? Rows().KindOf(*i) : Kind::kNone;
      // What needs it too cannot be inside.
      if (kind == Kind::kNone) {
        tainted_.insert(i);
      } else {
        members_[i] = kind;
        if (kind == Kind::kRow || ReadsFinished(*i)) finished_.insert(i);
      }
    }
    return true;
  }

  // Some of it has been through a reduce of these rows.
  bool ReadsFinished(const Instruction& i) const {
    return std::any_of(
        i.operands().begin(), i.operands().end(),
        [&](const Instruction* o) { return finished_.contains(o); });
  }

  // Where finished rows meet another product as it comes (P and dP), that one's
  // kernel goes on: here both would have to be stored.
  bool IsForAnotherProduct(const Instruction& i) {
    if (i.opcode() == Opcode::kReduce || !ReadsFinished(i)) return false;
    return std::any_of(i.operands().begin(), i.operands().end(),
                       [&](const Instruction* o) {
                         return !members_.contains(o) && IsAnotherProduct(*o);
                       });
  }

  // A product that comes later and whose rows fit, and elementwise work on it
  // that needs no values per row. Asked of each instruction once per search.
  bool IsAnotherProduct(const Instruction& o, int depth = 0) {
    if (of_columns_ || members_.contains(&o) || tainted_.contains(&o) ||
        depth > kMostDeep || !o.shape().SameDims(dot_->shape())) {
      return false;
    }
    if (o.opcode() == Opcode::kDot) {
      return position_.at(&o) > position_.at(dot_) && !plan_of_.contains(&o) &&
             RowsFit(o, *context_.chip);
    }
    if (!IsLoopElementwise(o)) return false;
    const auto [it, is_new] = another_.try_emplace(&o, false);
    if (!is_new) return it->second;
    bool product = false;
    for (const Instruction* x : o.operands()) {
      if (x->opcode() == Opcode::kBroadcast &&
          Rows().HasRowShape(x->operand(0)->shape())) {
        return false;
      }
      product = product || IsAnotherProduct(*x, depth + 1);
    }
    another_[&o] = product;
    return product;
  }

  bool FinishesRows() const {
    return std::any_of(
        finished_.begin(), finished_.end(), [&](const Instruction* i) {
          const auto found = members_.find(i);
          return found != members_.end() && found->second == Kind::kFull;
        });
  }

  // Where nobody goes on with what rows reduce to, the product is stored as it
  // is rounded: others make of it what they need, as of P and dP.
  void StoreProduct() {
    for (size_t n = End(); n-- > position_[dot_];) {
      Instruction* i = order_[n];
      const auto found = members_.find(i);
      if (found == members_.end() || found->second != Kind::kFull ||
          IsProduct(*i) || !UsedOutside(*i) || i->IsRoot()) {
        continue;
      }
      bool inside = false;
      for (const Instruction* u : i->users()) inside |= members_.contains(u);
      if (!inside) members_.erase(i);
    }
  }

  // The product, or its rounded values as wide as it was.
  bool IsProduct(const Instruction& i) const {
    return &i == dot_ ||
           (i.opcode() == Opcode::kConvert && i.operand(0) == dot_);
  }

  bool UsedOutside(const Instruction& i) const {
    if (i.IsRoot()) return true;
    return std::any_of(
        i.users().begin(), i.users().end(),
        [&](const Instruction* u) { return !members_.contains(u); });
  }

  // Read only by kernels that can make it themselves of what is stored anyway.
  bool IsForOthers(const Instruction& i) const {
    if (i.IsRoot() || members_.at(&i) != Kind::kFull) return false;
    for (const Instruction* u : i.users()) {
      if (members_.contains(u) ||
          (u->opcode() != Opcode::kReduce && !IsLoopElementwise(*u))) {
        return false;
      }
    }
    return std::all_of(
        i.operands().begin(), i.operands().end(), [&](const Instruction* o) {
          return o != dot_ && (!members_.contains(o) || UsedOutside(*o));
        });
  }

  // Elementwise work that only members read is done with them.
  void Absorb(std::vector<Instruction*>* members) {
    for (size_t next = 0; next < members->size(); ++next) {
      if ((*members)[next] == dot_) continue;
      for (Instruction* o : (*members)[next]->operands()) {
        if (members_.contains(o) || members->size() >= kMostRowMembers ||
            plan_of_.contains(o) || o->IsRoot() || Rows().IsFree(*o) ||
            !o->shape().SameDims(dot_->shape()) || UsedOutside(*o) ||
            !o->IsElementwise() || Rows().KindOf(*o) != Kind::kFull) {
          continue;
        }
        members_[o] = Kind::kFull;
        members->push_back(o);
      }
    }
  }

  // Work on finished rows that only the next product reads (the division of a
  // softmax) is done in front of it, under its matmuls, if it is made of one
  // array and values per row.
  void LeaveToNextProducts() {
    for (size_t n = End(); n-- > position_[dot_];) {
      Instruction* i = order_[n];
      const auto found = members_.find(i);
      if (found == members_.end() || found->second != Kind::kFull ||
          i == dot_ || i->user_count() != 1 || i->IsRoot()) {
        continue;
      }
      const Instruction* user = i->users()[0];
      if (members_.contains(user) || user->opcode() != Opcode::kDot ||
          user->operand(0) == user->operand(1)) {
        continue;
      }
      for (const Instruction* leaves :
           WorkBefore({*dot_, members_, prologues_, *context_.chip}, *i, *user,
                      user->operand(0) == i ? 0 : 1)) {
        members_.erase(leaves);
      }
    }
  }

  // Values per row are results only as reduces: others, their users, and what
  // makes them, leave. Broadcasts of them too.
  void Trim() {
    bool changed = true;
    while (changed) {
      changed = false;
      for (size_t n = End(); n-- > position_[dot_];) {
        Instruction* i = order_[n];
        const auto found = members_.find(i);
        if (found == members_.end() || i == dot_) continue;
        const bool row =
            found->second == Kind::kRow || i->opcode() == Opcode::kBroadcast;
        bool incomplete = false;
        for (Instruction* o : i->operands()) {
          incomplete |= removed_.contains(o);
        }
        const bool stored = row && UsedOutside(*i) && !MayBeResult(*i, *dot_);
        if (!incomplete && !stored && !IsForOthers(*i)) {
          continue;
        }
        members_.erase(found);
        removed_.insert(i);
        changed = true;
      }
    }
    removed_.clear();
  }

  Computation* c_;
  const PassContext& context_;
  const ProloguePolicy prologues_;
  const std::vector<Instruction*> order_;
  absl::flat_hash_map<const Instruction*, size_t> position_;
  std::vector<std::vector<Instruction*>> plans_;  // operands first
  absl::flat_hash_map<const Instruction*, size_t> plan_of_;
  // Of the dot at hand.
  absl::flat_hash_set<size_t> dependent_plans_;
  Instruction* dot_ = nullptr;
  bool of_columns_ = false;
  RowMembers members_;
  // Members that are or read what rows reduce to.
  absl::flat_hash_set<const Instruction*> finished_;
  absl::flat_hash_map<const Instruction*, bool> another_;
  absl::flat_hash_set<const Instruction*> tainted_, removed_;
};

}  // namespace

absl::StatusOr<bool> RowFusionPass::Run(Module* module,
                                        const PassContext& context) {
  if (module->config().is_scheduled || context.chip == nullptr) return false;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    changed |= c->RemoveDead() > 0;
    changed |= SplitDotBatches(c);
    changed |= RowFuser(c, context).Run();
    changed |= FuseRowStatistics(c, context);
  }
  return changed;
}

}  // namespace ptxla::hlo
