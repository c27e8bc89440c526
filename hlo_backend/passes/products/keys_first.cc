#include "hlo_backend/passes/products/keys_first.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/fusion/finished_columns.h"
#include "hlo_backend/passes/fusion/product_chaining.h"
#include "hlo_backend/passes/layout/transposed.h"
#include "hlo_backend/passes/memory/memory_space_assignment.h"
#include "hlo_backend/passes/products/in_tiles.h"
#include "hlo_backend/passes/products/score_leaves.h"
#include "hlo_backend/passes/products/score_order.h"
#include "hlo_backend/passes/products/spread_groups.h"
#include "hlo_backend/passes/products/swapped_dot.h"
#include "hlo_backend/passes/products/turned_heads.h"
#include "hlo_backend/passes/products/values_first.h"

namespace ptxla::hlo {
namespace {

constexpr size_t kMostMembers = 256;

// Few queries leave most of their lanes empty: no more of them than this.
constexpr int64_t kMostPadding = 2;

// Queries of several heads, dimensions of the product, read the same keys.
bool IsGrouped(const Instruction& dot) {
  return dot.operand(0)->shape().rank() > dot.operand(1)->shape().rank() &&
         SharesPlanes(dot);
}

// [batch..., queries, keys] of two operands with one free dimension each, or
// of queries whose groups share their keys: the operands may change places.
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

class Turner {
 public:
  Turner(Computation* c, const PassContext& context)
      : c_(c), b_(c), context_(context) {}

  bool Run() {
    bool changed = false;
    for (Instruction* i : Dots()) {
      if (removed_.contains(i) || seen_.contains(i) ||
          !(IsKeysFirst(*i) || TurnsAlways(*i)) || !AreScores(*i) ||
          !Gather(i)) {
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
  // where there are measurements of scores that are not turned, they decide
  // (C-SDPA).
  bool TurnsAlways(const Instruction& dot) const {
    return !dot.attrs<DotAttrs>().lhs_batch.empty() &&
           !HasChains(*context_.chip, dot);
  }

  // All that hangs together with the scores through elementwise work of their
  // shape. False: something in it needs their order.
  bool Gather(Instruction* dot) {
    scores_ = &dot->shape();
    members_ = {dot};
    order_ = {dot};
    ends_.clear();
    int64_t turned = 0, operands = 0;  // bytes
    int64_t products = 0;              // whose results are there at a time
    bool reduces = false;
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
           ((products == 1 && FinishesColumns(*dot, dot->operand(1)->shape(),
                                              keys, *context_.chip)) ||
            products * scores_->ElementCount() / (rows * keys) * area * 4 <=
                RoomForResidents(*context_.chip));
  }

  // As the products of each head read them.
  static int64_t OperandBytes(const Instruction& dot) {
    const Shape& lhs = dot.operand(0)->shape();
    const Shape& rhs = dot.operand(1)->shape();
    int64_t heads = 1;
    for (int d = rhs.rank() - 2; d < dot.shape().rank() - 2; ++d) {
      heads *= dot.shape().dim(d);
    }
    return lhs.ByteSize() + heads * rhs.ByteSize();
  }

  bool Join(Instruction* i) {
    if (!i->shape().IsArray() || !i->shape().SameDims(*scores_)) return false;
    if (members_.insert(i).second) order_.push_back(i);
    return true;
  }

  int64_t Keys() const { return scores_->rank() - 1; }

  // One that keeps both of the last two dimensions would be turned behind.
  bool MayReduce(const Instruction& reduce) const {
    return !HasControlEdges(reduce) && reduce.operand_count() == 2 &&
           (Contains(reduce.dimensions(), Keys()) ||
            Contains(reduce.dimensions(), Keys() - 1));
  }

  // Contracts one of them.
  bool MayMultiply(const Instruction& dot, const Instruction& value) const {
    const auto& a = dot.attrs<DotAttrs>();
    if (HasControlEdges(dot) || !a.sparsity.empty() ||
        dot.shape().has_layout() || dot.operand(0) == dot.operand(1)) {
      return false;
    }
    const auto& contracting =
        dot.operand(0) == &value ? a.lhs_contracting : a.rhs_contracting;
    return contracting.size() == 1 && contracting[0] >= Keys() - 1;
  }

  // The product of rows that a reshape has joined of several heads', which
  // share what they are multiplied with; else null.
  static const Instruction* ReaderOfRows(const Instruction& reshape) {
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

  // An end whose rows are those of several heads.
  bool ReadsGroups(const Instruction& dot) const {
    const Instruction& rows = *dot.operand(0);
    return IsGrouped(dot) ||
           (rows.opcode() == Opcode::kReshape &&
            members_.contains(rows.operand(0)) && ReaderOfRows(rows) == &dot);
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
    if (i->opcode() == Opcode::kDot && members_.contains(i)) {
      Instruction* dot = IsGrouped(*i) ? SpreadProduct(i) : i;
      value = SwappedDot(dot, TurnedShape(*i));
      products_.push_back(value);
    } else if (i->opcode() == Opcode::kIota) {
      value = b_.Iota(TurnedShape(*i),
                      Place(i->attrs<IotaAttrs>().dimension, rank));
    } else if (i->opcode() == Opcode::kBroadcast) {
      value = TurnedBroadcast(i);
    } else if (members_.contains(i) ? i->IsElementwise() : IsFreeScore(*i)) {
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
      if (members_.contains(i)) {
        Turned(i);
      } else if (ends_.contains(i)) {
        removed_.insert(i);
        products_.erase(std::remove(products_.begin(), products_.end(), i),
                        products_.end());
        if (i->opcode() == Opcode::kDot && ReadsGroups(*i)) {
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
        reduced.push_back(Place(d, scores_->rank()));
      }
      std::sort(reduced.begin(), reduced.end());
      return b_.Reduce(Turned(i->operand(0)), i->operand(1), reduced,
                       i->to_apply());
    }
    std::vector<Instruction*> operands(i->operands().begin(),
                                       i->operands().end());
    DotAttrs attrs = i->attrs<DotAttrs>();
    for (int o = 0; o < 2; ++o) {
      if (!members_.contains(operands[o])) continue;
      auto& contracting =
          o == 0 ? attrs.lhs_contracting : attrs.rhs_contracting;
      contracting[0] = Place(contracting[0], scores_->rank());
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
    return members_.contains(dot.operand(0)) &&
           !members_.contains(dot.operand(1)) &&
           rank == static_cast<int>(a.lhs_batch.size()) + 2 &&
           a.lhs_contracting[0] == Keys() && IsValuesFirst(dot, *context_.chip);
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
  // Products that have been looked at, and ends that are there no more.
  absl::flat_hash_set<const Instruction*> seen_, removed_;
  std::vector<Instruction*> products_;  // that have been made
  const Shape* scores_ = nullptr;       // at hand
  absl::flat_hash_set<const Instruction*> members_, ends_;
  std::vector<Instruction*> order_;
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
