#include "hlo_backend/passes/spread_reduce.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/units.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/transposed.h"

namespace ptxla::hlo {
namespace {

// Work on what is spread is followed so far.
constexpr int kDeepest = 16;
// What is transposed is a small part of what is reduced.
constexpr int64_t kSmallShare = 16;

int64_t InTiles(int64_t rows, int64_t columns) {
  return RoundUpTo<int64_t>(rows, 8) * RoundUpTo<int64_t>(columns, 128);
}

class Turner {
 public:
  explicit Turner(Instruction* reduce)
      : reduce_(reduce),
        x_(reduce->operand(0)),
        rank_(x_->shape().rank()),
        b_(reduce->parent()) {}

  Instruction* Run() {
    const int64_t rows = x_->shape().dim(rank_ - 2);
    const int64_t lanes = x_->shape().dim(rank_ - 1);
    if (!x_->IsElementwise() || !IsSpread(*x_, kDeepest) ||
        InTiles(lanes, rows) > InTiles(rows, lanes) ||
        transposed_ * kSmallShare > x_->shape().ElementCount()) {
      return nullptr;
    }
    Instruction* turned = Turned(x_);
    b_.set_metadata(reduce_->shared_metadata());
    return b_.Reduce(turned, reduce_->operand(1), {rank_ - 2},
                     reduce_->to_apply());
  }

 private:
  bool IsSpread(const Instruction& x, int depth) {
    if (x.shape().IsScalar() || x.opcode() == Opcode::kIota) return true;
    if (x.opcode() == Opcode::kConstant) return x.literal().IsSplat();
    if (x.opcode() == Opcode::kBroadcast) {
      if (TurnsSource(x)) transposed_ += x.operand(0)->shape().ElementCount();
      return IsIncreasing(x.dimensions()) &&
             x.operand(0)->shape().ElementCount() * kSmallShare <=
                 x.shape().ElementCount();
    }
    return depth > 0 && x.IsElementwise() && x.opcode() != Opcode::kCopy &&
           x.user_count() == 1 && x.control_predecessors().empty() &&
           x.control_successors().empty() &&
           std::all_of(
               x.operands().begin(), x.operands().end(),
               [&](const Instruction* o) { return IsSpread(*o, depth - 1); });
  }

  bool TurnsSource(const Instruction& broadcast) const {
    return Contains(broadcast.dimensions(), rank_ - 1) &&
           Contains(broadcast.dimensions(), rank_ - 2);
  }

  // The last two dimensions change places.
  int64_t Place(int64_t d) const {
    return d == rank_ - 1 ? rank_ - 2 : d == rank_ - 2 ? rank_ - 1 : d;
  }

  Instruction* Turned(Instruction* x) {
    if (x->shape().IsScalar()) return x;
    const auto it = turned_.find(x);
    if (it != turned_.end()) return it->second;
    b_.set_metadata(x->shared_metadata());
    DimVector dims = x->shape().dims();
    std::swap(dims[rank_ - 1], dims[rank_ - 2]);
    const Shape shape = Shape::Array(x->shape().type(), dims);
    Instruction* value = nullptr;
    if (x->opcode() == Opcode::kIota) {
      value = b_.Iota(shape, Place(x->attrs<IotaAttrs>().dimension));
    } else if (x->opcode() == Opcode::kBroadcast) {
      value = TurnedBroadcast(x, dims);
    } else if (x->opcode() == Opcode::kConstant) {
      value = Transposed(&b_, x, Order(rank_));
    } else {
      std::vector<Instruction*> operands;
      for (Instruction* o : x->operands()) operands.push_back(Turned(o));
      value = x->parent()->AddLike(*x, shape, operands);
    }
    return turned_[x] = value;
  }

  // The permutation that exchanges the last two of so many dimensions.
  static DimVector Order(int rank) {
    DimVector order;
    for (int64_t d = 0; d < rank; ++d) order.push_back(d);
    std::swap(order[rank - 1], order[rank - 2]);
    return order;
  }

  Instruction* TurnedBroadcast(Instruction* x, const DimVector& dims) {
    DimVector targets(x->dimensions().begin(), x->dimensions().end());
    Instruction* source = x->operand(0);
    if (TurnsSource(*x)) {
      // Of the source, too, those are the last two: they stay where they go.
      source = Transposed(&b_, source, Order(source->shape().rank()));
    } else {
      for (int64_t& d : targets) d = Place(d);
    }
    return b_.Broadcast(source, dims, targets);
  }

  Instruction* reduce_;
  Instruction* x_;
  int rank_;
  Builder b_;
  int64_t transposed_ = 0;  // elements
  absl::flat_hash_map<const Instruction*, Instruction*> turned_;
};

}  // namespace

Instruction* TurnedSpreadReduce(Instruction* reduce) {
  const Shape& shape = reduce->operand(0)->shape();
  if (reduce->operand_count() != 2 || shape.rank() < 3 ||
      reduce->dimensions().size() != 1 ||
      reduce->dimensions()[0] != shape.rank() - 1) {
    return nullptr;
  }
  return Turner(reduce).Run();
}

}  // namespace ptxla::hlo
