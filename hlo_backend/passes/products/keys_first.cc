#include "hlo_backend/passes/products/keys_first.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/fusion/product_chaining.h"
#include "hlo_backend/passes/layout/transposed.h"
#include "hlo_backend/passes/products/score_group.h"
#include "hlo_backend/passes/products/score_leaves.h"
#include "hlo_backend/passes/products/score_order.h"
#include "hlo_backend/passes/products/spread_groups.h"
#include "hlo_backend/passes/products/swapped_dot.h"
#include "hlo_backend/passes/products/turned_heads.h"
#include "hlo_backend/passes/products/values_first.h"

namespace ptxla::hlo {
namespace {

class Turner {
 public:
  Turner(Computation* c, const PassContext& context)
      : c_(c), b_(c), context_(context), scores_(*context.chip) {}

  bool Run() {
    bool changed = false;
    for (Instruction* i : Dots()) {
      if (removed_.contains(i) || scores_.WasSeen(i) ||
          !(IsKeysFirst(*i) || TurnsAlways(*i)) || !AreScores(*i) ||
          !scores_.Gather(i)) {
        continue;
      }
      Turn();
      changed = true;
    }
    if (changed) {
      TurnHeads(c_, products_, GenerationOf(context_));
      c_->RemoveDead();
    }
    return changed;
  }

 private:
  // Operands first. Found before any is turned: more than dots goes with one.
  std::vector<Instruction*> Dots() const {
    std::vector<Instruction*> dots;
    for (Instruction* i : c_->PostOrder()) {
      if (i->opcode() == Opcode::kDot) dots.push_back(i);
    }
    return dots;
  }

  // Members of a batch, whatever the program writes, as the TPU compiler does;
  // where there are measurements of scores that are not turned, they decide:
  // of heads outside of the sequence (C-SDPA).
  bool TurnsAlways(const Instruction& dot) const {
    const DotAttrs& a = dot.attrs<DotAttrs>();
    return !a.lhs_batch.empty() &&
           !(HasChains(*context_.chip, dot) && IsIdentityMapping(a.lhs_batch) &&
             IsIdentityMapping(a.rhs_batch));
  }

  // The last two dimensions change places.
  static int64_t Place(int64_t d, int rank) {
    return d == rank - 1 ? rank - 2 : d == rank - 2 ? rank - 1 : d;
  }
  static Shape TurnedShape(const Instruction& i) {
    DimVector dims = i.shape().dims();
    std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
    return Shape::Array(i.shape().type(), dims);
  }

  Instruction* Turned(Instruction* i) {
    if (i->shape().IsScalar()) return i;
    const auto it = turned_.find(i);
    if (it != turned_.end()) return it->second;
    const int rank = i->shape().rank();
    b_.set_metadata(i->shared_metadata());
    Instruction* value = nullptr;
    if (i->opcode() == Opcode::kDot && scores_.IsMember(i)) {
      Instruction* dot = IsGrouped(*i) ? SpreadProduct(i) : i;
      value = SwappedDot(dot, TurnedShape(*i));
      products_.push_back(value);
    } else if (i->opcode() == Opcode::kIota) {
      value = b_.Iota(TurnedShape(*i),
                      Place(i->attrs<IotaAttrs>().dimension, rank));
    } else if (i->opcode() == Opcode::kBroadcast) {
      value = TurnedBroadcast(i);
    } else if (scores_.IsMember(i) ? i->IsElementwise() : IsFreeScore(*i)) {
      std::vector<Instruction*> operands;
      for (Instruction* o : i->operands()) operands.push_back(Turned(o));
      value = c_->AddLike(*i, TurnedShape(*i), operands);
    } else {
      DimVector order;
      for (int64_t d = 0; d < rank; ++d) order.push_back(Place(d, rank));
      value = Transposed(&b_, i, order);
    }
    return turned_[i] = value;
  }

  Instruction* TurnedBroadcast(Instruction* i) {
    DimVector targets;
    for (int64_t d : i->dimensions()) {
      targets.push_back(Place(d, i->shape().rank()));
    }
    Instruction* source = i->operand(0);
    // Of the source, too, those are the last two.
    if (!IsIncreasing(targets)) {
      source = Turned(source);
      std::swap(targets[targets.size() - 1], targets[targets.size() - 2]);
    }
    return b_.Broadcast(source, TurnedShape(*i).dims(), targets);
  }

  void Turn() {
    turned_.clear();
    // What a softmax broadcasts again is an end: operands first.
    for (Instruction* i : c_->PostOrder()) {
      if (scores_.IsMember(i)) {
        Turned(i);
      } else if (scores_.IsEnd(i)) {
        removed_.insert(i);
        products_.erase(std::remove(products_.begin(), products_.end(), i),
                        products_.end());
        if (i->opcode() == Opcode::kDot && scores_.ReadsGroups(*i)) {
          i = SpreadGroups(i);
        }
        c_->Replace(i, End(i));
      }
    }
  }

  Instruction* End(Instruction* i) {
    b_.set_metadata(i->shared_metadata());
    if (i->opcode() == Opcode::kReduce) {
      DimVector reduced;
      for (int64_t d : i->dimensions()) {
        reduced.push_back(Place(d, scores_.rank()));
      }
      std::sort(reduced.begin(), reduced.end());
      return b_.Reduce(Turned(i->operand(0)), i->operand(1), reduced,
                       i->to_apply());
    }
    std::vector<Instruction*> operands(i->operands().begin(),
                                       i->operands().end());
    DotAttrs attrs = i->attrs<DotAttrs>();
    for (int o = 0; o < 2; ++o) {
      if (!scores_.IsMember(operands[o])) continue;
      auto& contracting =
          o == 0 ? attrs.lhs_contracting : attrs.rhs_contracting;
      contracting[0] = Place(contracting[0], scores_.rank());
      operands[o] = Turned(operands[o]);
    }
    Instruction* dot = c_->AddLike(*i, i->shape(), operands);
    *dot->mutable_attrs<DotAttrs>() = std::move(attrs);
    products_.push_back(dot);
    return IsFreeBehind(*i) ? ValuesFirst(i, dot) : dot;
  }

  // Values times scores, [depth, queries], take the scores as they lie; scores
  // times values would turn them. What moves all of the result anyway, or
  // leaves queries in the lanes, takes either.
  bool IsFreeBehind(const Instruction& dot) const {
    const auto& a = dot.attrs<DotAttrs>();
    const int rank = dot.shape().rank();
    return scores_.IsMember(dot.operand(0)) &&
           !scores_.IsMember(dot.operand(1)) &&
           rank == static_cast<int>(a.lhs_batch.size()) + 2 &&
           a.lhs_contracting[0] == scores_.Keys() &&
           IsValuesFirst(dot, *context_.chip);
  }

  // `dot` stands for `i`, which one transpose reads.
  Instruction* ValuesFirst(Instruction* i, Instruction* dot) {
    Instruction* next = i->users()[0];
    Instruction* swapped = SwappedDot(dot, TurnedShape(*dot));
    products_.push_back(swapped);
    DimVector order;
    for (int64_t d : next->dimensions()) {
      order.push_back(Place(d, i->shape().rank()));
    }
    removed_.insert(next);
    c_->Replace(next, Transposed(&b_, swapped, order));
    return dot;
  }

  Computation* c_;
  Builder b_;
  const PassContext& context_;
  ScoreGroup scores_;                                // at hand
  absl::flat_hash_set<const Instruction*> removed_;  // ends, replaced
  std::vector<Instruction*> products_;               // that have been made
  absl::flat_hash_map<const Instruction*, Instruction*> turned_;
};

}  // namespace

absl::StatusOr<bool> KeysFirstPass::Run(Module* module,
                                        const PassContext& context) {
  if (module->config().is_scheduled || context.chip == nullptr) return false;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    changed |= Turner(c, context).Run();
  }
  return changed;
}

}  // namespace ptxla::hlo
