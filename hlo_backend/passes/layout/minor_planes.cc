#include "hlo_backend/passes/layout/minor_planes.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/block_reduces.h"
#include "hlo_backend/passes/layout/dimension_order.h"
#include "hlo_backend/passes/layout/in_order.h"
#include "hlo_backend/passes/layout/point_group.h"
#include "hlo_backend/passes/layout/point_work.h"

namespace ptxla::hlo {
namespace {

// Brings a group into its other order.
class Turning {
 public:
  Turning(Computation* c, const PointGroup& group)
      : c_(c), b_(c), group_(group) {}

  void Turn() {
    for (Instruction* i : c_->PostOrder()) {
      if (!group_.Has(i)) continue;
      b_.set_metadata(i->shared_metadata());
      std::vector<Instruction*> operands;
      for (Instruction* o : i->operands()) operands.push_back(Planes(o));
      Instruction* planes = c_->AddLike(
          *i,
          Shape::Array(i->shape().type(),
                       Permuted(i->shape().dims(), group_.Order(*i))),
          operands);
      CutInOrder(planes, group_.Order(*i));
      planes_[i] = planes;
    }
    for (Instruction* i : group_.members()) Leave(i);
  }

 private:
  // Dimensions in this order without those that are reduced.
  static DimVector Kept(const DimVector& order,
                        absl::Span<const int64_t> reduced) {
    DimVector kept;
    for (const int64_t d : order) {
      if (std::count(reduced.begin(), reduced.end(), d) == 0) kept.push_back(d);
    }
    return kept;
  }

  Instruction* Planes(Instruction* o) {
    if (o->shape().IsScalar()) return o;
    Instruction*& value = planes_[o];
    if (value == nullptr) value = InOrder(b_, o, group_.Order(*o));
    return value;
  }

  void Leave(Instruction* i) {
    Instruction* planes = planes_.at(i);
    const DimVector order = group_.Order(*i), back = Inverse(order);
    const std::vector<Instruction*> users(i->users().begin(), i->users().end());
    Instruction* whole = nullptr;
    const auto as_it_was = [&] {
      if (whole == nullptr) whole = b_.Transpose(planes, back);
      return whole;
    };
    // What is replaced stays, unread, until the walk over the computation ends.
    for (Instruction* u : users) {
      if (group_.Has(u)) continue;
      b_.set_metadata(u->shared_metadata());
      if (PointGroup::Reduces(*u)) {
        DimVector dims;
        for (const int64_t d : u->dimensions()) dims.push_back(back[d]);
        std::sort(dims.begin(), dims.end());
        Instruction* sums =
            b_.Reduce(planes, u->operand(1), dims, u->called()[0]);
        const DimVector kept = Kept(order, u->dimensions());
        u->ReplaceAllUsesWith(
            std::is_sorted(kept.begin(), kept.end())
                ? sums
                : b_.Transpose(sums,
                               Inverse(group_.OrderOfRank(u->shape().rank()))));
      } else if (PointGroup::PicksNumber(*u)) {
        const auto& a = u->attrs<SliceAttrs>();
        Instruction* picked =
            b_.Slice(planes, Permuted(a.starts, order),
                     Permuted(a.limits, order), Permuted(a.strides, order));
        u->ReplaceAllUsesWith(b_.Reshape(picked, u->shape().dims()));
      } else {
        for (int k = 0; k < u->operand_count(); ++k) {
          if (u->operand(k) == i) u->ReplaceOperand(k, as_it_was());
        }
      }
    }
    if (i->IsRoot()) c_->SetRoot(as_it_was());
  }

  Computation* c_;
  Builder b_;
  const PointGroup& group_;
  absl::flat_hash_map<const Instruction*, Instruction*> planes_;
};

}  // namespace

absl::StatusOr<bool> MinorPlanesPass::Run(Module* module,
                                          const PassContext& context) {
  if (module->config().is_scheduled) return false;
  const int generation = GenerationOf(context);
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    absl::flat_hash_set<Instruction*> seen;
    bool here = false;
    for (Instruction* i : c->PostOrder()) {
      if (Instruction* sums = OverPlanes(i, generation); sums != nullptr) {
        c->Replace(i, sums);
        here = true;
        continue;
      }
      if (seen.contains(i) || !HasFewNumbers(*i) || !IsPointWork(*i)) continue;
      PointGroup group(c, generation);
      group.Gather(i, &seen);
      if (!group.Pays()) continue;
      Turning(c, group).Turn();
      here = true;
    }
    if (here) c->RemoveDead();
    changed |= here;
  }
  return changed;
}

}  // namespace ptxla::hlo
