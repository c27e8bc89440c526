#include "hlo_backend/passes/layout/regrouping.h"

#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/expanders/reduce_start.h"
#include "hlo_backend/passes/layout/dimension_cuts.h"

namespace ptxla::hlo {
namespace {

// The array between costs kernels of its own: they must not matter.
constexpr int64_t kSmall = 8;

Instruction* Reshaped(Instruction* x, const DimVector& dims, Builder* b) {
  return x->shape().dims() == dims ? x : b->Reshape(x, dims);
}

Instruction* ReduceOver(Instruction* like, Instruction* x,
                        const DimVector& reduced) {
  const DimVector kept = Others(x->shape().rank(), reduced);
  DimensionsAttrs attrs;
  attrs.dimensions = reduced;
  Instruction* value = x->parent()->AddLike(
      *like,
      Shape::Array(like->shape().type(), Permuted(x->shape().dims(), kept)),
      {x, like->operand(1)});
  value->set_attributes(attrs);
  return value;
}

// Whether a value that is stored between two reduces is what one would have
// carried on.
bool MayStopBetween(const Instruction& reduce) {
  const std::optional<Opcode> op = MonoidOf(*reduce.to_apply());
  if (!op.has_value() || !StartIsNeutral(reduce)) return false;
  if (*op != Opcode::kAdd && *op != Opcode::kMultiply) return true;
  const PrimitiveType type = reduce.shape().type();
  return !IsFloat(type) || BitWidth(type) >= 32;
}

}  // namespace

std::optional<Regrouping> Regrouping::Make(absl::Span<const int64_t> from,
                                           absl::Span<const int64_t> to) {
  const int64_t elements = Product(from);
  Cuts all = CutsOf(from);
  for (int64_t c : CutsOf(to)) AddCut(&all, c);
  if (Product(to) != elements || !IsChain(all, elements)) return std::nullopt;
  Regrouping r;
  r.to_.assign(to.begin(), to.end());
  r.fine_ = DimsOf(all, elements);
  r.in_from_ = PartOf(r.fine_, from);
  r.in_to_ = PartOf(r.fine_, to);
  return r;
}

DimVector Regrouping::Touched(absl::Span<const int64_t> dimensions) const {
  DimVector result;
  for (size_t f = 0; f < fine_.size(); ++f) {
    if (Contains(dimensions, in_from_[f]) && !Contains(result, in_to_[f])) {
      result.push_back(in_to_[f]);
    }
  }
  return result;
}

DimVector Regrouping::Covered(absl::Span<const int64_t> dimensions) const {
  DimVector result;
  for (int64_t t : Touched(dimensions)) {
    bool whole = true;
    for (size_t f = 0; f < fine_.size(); ++f) {
      whole &= in_to_[f] != t || Contains(dimensions, in_from_[f]);
    }
    if (whole) result.push_back(t);
  }
  return result;
}

bool Regrouping::IsPartial(absl::Span<const int64_t> dimensions) const {
  return Touched(dimensions).size() != Covered(dimensions).size();
}

bool Regrouping::CanBroadcast(const Instruction& broadcast) const {
  if (!IsIncreasing(broadcast.dimensions())) return false;
  if (!IsPartial(broadcast.dimensions())) return true;
  const DimVector touched = Touched(broadcast.dimensions());
  return Product(Permuted(to_, touched)) * kSmall <= Product(to_);
}

bool Regrouping::CanReduce(const Instruction& reduce) const {
  if (reduce.operand_count() != 2) return false;
  if (!IsPartial(reduce.dimensions())) return true;
  return Product(Permuted(to_, Covered(reduce.dimensions()))) >= kSmall &&
         MayStopBetween(reduce);
}

Instruction* Regrouping::Broadcast(Instruction* broadcast, Builder* b) const {
  Instruction* x = broadcast->operand(0);
  if (x->shape().IsScalar()) return b->BroadcastScalar(x, to_);
  const DimVector touched = Touched(broadcast->dimensions());
  DimVector x_dims, spread, mapping;
  for (size_t f = 0; f < fine_.size(); ++f) {
    if (!Contains(touched, in_to_[f])) continue;
    if (Contains(broadcast->dimensions(), in_from_[f])) {
      x_dims.push_back(fine_[f]);
      mapping.push_back(static_cast<int64_t>(spread.size()));
    }
    spread.push_back(fine_[f]);
  }
  x = Reshaped(x, x_dims, b);
  if (x_dims != spread) x = b->Broadcast(x, spread, mapping);
  return b->Broadcast(Reshaped(x, Permuted(to_, touched), b), to_, touched);
}

Instruction* Regrouping::Reduce(Instruction* reduce, Instruction* x,
                                Builder* b) const {
  const DimVector first = Covered(reduce->dimensions());
  Instruction* value = first.empty() ? x : ReduceOver(reduce, x, first);
  if (IsPartial(reduce->dimensions())) {
    DimVector kept, members;
    for (size_t f = 0; f < fine_.size(); ++f) {
      if (Contains(first, in_to_[f])) continue;
      if (Contains(reduce->dimensions(), in_from_[f])) {
        members.push_back(static_cast<int64_t>(kept.size()));
      }
      kept.push_back(fine_[f]);
    }
    value = ReduceOver(reduce, Reshaped(value, kept, b), members);
  }
  const DimVector dims(reduce->shape().dims().begin(),
                       reduce->shape().dims().end());
  return Reshaped(value, dims, b);
}

}  // namespace ptxla::hlo
