#include <algorithm>
#include <optional>
#include <utility>

#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/expanders/reduce_start.h"
#include "hlo_backend/passes/simplify/elementwise_body.h"
#include "hlo_backend/passes/simplify/simplify_rules.h"

namespace ptxla::hlo {
namespace {

Instruction* WithDims(Instruction* i, Instruction* x, DimVector reduced,
                      Rewriter& r) {
  const DimVector kept = Others(x->shape().rank(), reduced);
  DimensionsAttrs attrs;
  attrs.dimensions = std::move(reduced);
  Instruction* value = i->parent()->AddLike(
      *i, Shape::Array(i->shape().type(), Permuted(x->shape().dims(), kept)),
      {x, i->operand(1)});
  value->set_attributes(attrs);
  if (value->shape().SameDims(i->shape())) return value;
  return r.builder().Reshape(value, i->shape().dims());
}

// Which of the dimensions `from` are the reduced ones of a reshape to `to`;
// nullopt if a kept dimension is not one of `from` as it is. No dimension is 1.
std::optional<DimVector> ReducedBeforeReshape(const DimVector& from,
                                              const DimVector& to,
                                              const DimVector& reduced) {
  DimVector result;
  // Groups of as few dimensions as have the same elements on both sides.
  size_t f = 0, t = 0;
  while (f < from.size() && t < to.size()) {
    const size_t first_from = f, first_to = t;
    int64_t before = from[f++], after = to[t++];
    while (before != after) {
      if (before < after) {
        before *= from[f++];
      } else {
        after *= to[t++];
      }
    }
    if (Contains(reduced, static_cast<int64_t>(first_to))) {
      for (size_t d = first_from; d < f; ++d) {
        result.push_back(static_cast<int64_t>(d));
      }
    } else if (f - first_from != 1 || t - first_to != 1) {
      return std::nullopt;
    }
    for (size_t d = first_to; d < t; ++d) {
      if (Contains(reduced, static_cast<int64_t>(d)) !=
          Contains(reduced, static_cast<int64_t>(first_to))) {
        return std::nullopt;
      }
    }
  }
  return result;
}

// reduce(reshape(x)), also through several reshapes. If the reduced part is
// whole dimensions of x, the reduce is of x itself (XLA's HandleReduce), so
// that it meets what makes x. Otherwise leading dimensions that are all reduced
// are one: the reshape is then the same as the one that a product of the rows
// needs.
Instruction* ReduceOfReshape(Instruction* i, Rewriter& r) {
  const DimVector& dims = i->operand(0)->shape().dims();
  if (HasUnitDims(i->operand(0)->shape()) ||
      i->operand(0)->shape().ElementCount() == 0) {
    return nullptr;
  }
  Instruction* source = i->operand(0);
  while (source->opcode() == Opcode::kReshape &&
         !source->shape().has_layout()) {
    source = source->operand(0);
  }
  const DimVector own = DropUnitDims(source->shape().dims());
  if (own == dims) return nullptr;
  std::optional<DimVector> reduced = ReducedBeforeReshape(
      own, dims, DimVector(i->dimensions().begin(), i->dimensions().end()));
  if (reduced.has_value()) {
    return WithDims(i, r.builder().Reshape(source, own), *std::move(reduced),
                    r);
  }
  const int leading = static_cast<int>(i->dimensions().size());
  if (leading < 2 || leading == static_cast<int>(dims.size())) return nullptr;
  for (int d = 0; d < leading; ++d) {
    if (!Contains(i->dimensions(), d)) return nullptr;
  }
  DimVector joined = {Product(absl::MakeConstSpan(dims).first(leading))};
  joined.insert(joined.end(), dims.begin() + leading, dims.end());
  return WithDims(i, r.builder().Reshape(source, joined), {0}, r);
}

// A sum of negated values is the negated sum, as in libtpu: one operation for
// each result. (Zeros may change their sign, as in SimplifyIdentity.)
Instruction* SumOfNegated(Instruction* i, Rewriter& r) {
  const Instruction* x = i->operand(0);
  if (x->opcode() != Opcode::kNegate || !IsFloat(x->shape().type()) ||
      MonoidOf(*i->to_apply()) != Opcode::kAdd || !StartIsNeutral(*i)) {
    return nullptr;
  }
  return r.builder().Negate(
      i->parent()->AddLike(*i, i->shape(), {x->operand(0), i->operand(1)}));
}

}  // namespace

Instruction* SimplifyReduce(Instruction* i, Rewriter& r) {
  if (i->operand_count() != 2 || !i->shape().IsArray() ||
      i->shape().has_layout()) {
    return nullptr;
  }
  Instruction* x = i->operand(0);
  Builder& b = r.builder();
  int64_t reduced_elements = 1;
  for (int64_t d : i->dimensions()) {
    reduced_elements *= x->shape().dim(static_cast<int>(d));
  }
  if (reduced_elements == 1 && StartIsNeutral(*i)) {
    return i->shape().SameDims(x->shape()) ? x
                                           : b.Reshape(x, i->shape().dims());
  }
  // One element for each result: the body's value of it and the start.
  if (reduced_elements == 1 && CanApplyElementwise(*i->to_apply())) {
    const DimVector dims(i->shape().dims().begin(), i->shape().dims().end());
    Instruction* value =
        i->shape().SameDims(x->shape()) ? x : b.Reshape(x, dims);
    return ApplyElementwise(*i->to_apply(),
                            {b.BroadcastScalar(i->operand(1), dims), value},
                            dims, i->parent())[0];
  }
  if (Instruction* value = SumOfNegated(i, r)) return value;
  // Without dimensions of size 1.
  if (HasUnitDims(x->shape()) && reduced_elements > 1) {
    const DimVector kept = NonUnitPositions(x->shape().dims());
    DimVector reduced;
    for (size_t k = 0; k < kept.size(); ++k) {
      if (Contains(i->dimensions(), kept[k])) {
        reduced.push_back(static_cast<int64_t>(k));
      }
    }
    return WithDims(i, b.Reshape(x, DropUnitDims(x->shape().dims())), reduced,
                    r);
  }
  if (x->opcode() == Opcode::kReshape) {
    if (Instruction* value = ReduceOfReshape(i, r)) return value;
  }
  if (x->opcode() == Opcode::kTranspose) {
    DimVector reduced, kept;
    for (int d = 0; d < x->shape().rank(); ++d) {
      (Contains(i->dimensions(), d) ? reduced : kept)
          .push_back(x->dimensions()[d]);
    }
    if (!IsIncreasing(kept)) return nullptr;
    std::sort(reduced.begin(), reduced.end());
    return WithDims(i, x->operand(0), reduced, r);
  }
  return nullptr;
}

}  // namespace ptxla::hlo
