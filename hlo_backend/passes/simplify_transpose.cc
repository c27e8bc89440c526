#include <algorithm>

#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/simplify_rules.h"

namespace ptxla::hlo {
namespace {

// transpose(f(dot(a, b))) with one free dimension on each side is
// f(dot(b, a)); f are unary instructions with no other user.
Instruction* TransposeOfDot(Instruction* i, Rewriter& r) {
  std::vector<Instruction*> chain;
  Instruction* x = i->operand(0);
  while (x->IsElementwise() && x->operand_count() == 1 &&
         x->user_count() == 1) {
    chain.push_back(x);
    x = x->operand(0);
  }
  if (x->opcode() != Opcode::kDot || x->user_count() != 1) return nullptr;
  const DotAttrs& dot = x->attrs<DotAttrs>();
  const int batch = static_cast<int>(dot.lhs_batch.size());
  if (x->shape().rank() != batch + 2) return nullptr;
  // The columns come before the rows: the product can give them so. What is
  // left of the transpose moves whole rows.
  DimVector rest(i->dimensions().begin(), i->dimensions().end());
  const auto row = std::find(rest.begin(), rest.end(), batch);
  const auto column = std::find(rest.begin(), rest.end(), batch + 1);
  if (row < column) return nullptr;
  std::swap(*row, *column);
  DotAttrs swapped = dot;
  std::swap(swapped.lhs_batch, swapped.rhs_batch);
  std::swap(swapped.lhs_contracting, swapped.rhs_contracting);
  if (swapped.precision.operands.size() == 2) {
    std::swap(swapped.precision.operands[0], swapped.precision.operands[1]);
  }
  DimVector dims = x->shape().dims();
  std::swap(dims[batch], dims[batch + 1]);
  Instruction* value =
      i->parent()->Add(Opcode::kDot, Shape::Array(x->shape().type(), dims),
                       {x->operand(1), x->operand(0)}, swapped);
  value->set_metadata(x->shared_metadata());
  for (size_t k = chain.size(); k-- > 0;) {
    value = i->parent()->AddLike(
        *chain[k], Shape::Array(chain[k]->shape().type(), dims), {value});
  }
  return IsIdentityMapping(rest) ? value : r.builder().Transpose(value, rest);
}

// transpose(reshape(x)) where the reshape joins leading dimensions into the
// first and the transpose leaves that in place: transpose first.
Instruction* TransposeOfJoin(Instruction* i, Rewriter& r) {
  Instruction* reshape = i->operand(0);
  Instruction* x = reshape->operand(0);
  const int extra = x->shape().rank() - reshape->shape().rank();
  if (extra <= 0 || reshape->shape().rank() < 2 || i->dimensions()[0] != 0) {
    return nullptr;
  }
  for (int d = 1; d < reshape->shape().rank(); ++d) {
    if (reshape->shape().dim(d) != x->shape().dim(d + extra)) return nullptr;
  }
  DimVector permutation;
  for (int d = 0; d <= extra; ++d) permutation.push_back(d);
  for (int d = 1; d < i->shape().rank(); ++d) {
    permutation.push_back(i->dimensions()[d] + extra);
  }
  Builder& b = r.builder();
  return b.Reshape(b.Transpose(x, permutation), i->shape().dims());
}

Instruction* TransposeOfBroadcast(Instruction* i, Rewriter& r) {
  Instruction* broadcast = i->operand(0);
  DimVector mapping;
  for (int64_t d : broadcast->dimensions()) {
    for (int k = 0; k < i->shape().rank(); ++k) {
      if (i->dimensions()[k] == d) mapping.push_back(k);
    }
  }
  if (!IsIncreasing(mapping)) return nullptr;
  return r.builder().Broadcast(broadcast->operand(0), i->shape().dims(),
                               mapping);
}

}  // namespace

Instruction* SimplifyTranspose(Instruction* i, Rewriter& r) {
  if (i->shape().has_layout()) return nullptr;
  Instruction* x = i->operand(0);
  Builder& b = r.builder();
  if (IsIdentityMapping(i->dimensions())) return x;
  // Only dimensions of size 1 change places.
  DimVector moved;
  for (int64_t d : i->dimensions()) {
    if (x->shape().dim(static_cast<int>(d)) != 1) moved.push_back(d);
  }
  if (IsIncreasing(moved)) return b.Reshape(x, i->shape().dims());
  switch (x->opcode()) {
    case Opcode::kTranspose:
      return b.Transpose(x->operand(0),
                         Permuted(x->dimensions(), i->dimensions()));
    case Opcode::kBroadcast:
      return TransposeOfBroadcast(i, r);
    case Opcode::kReshape:
      return TransposeOfJoin(i, r);
    case Opcode::kIota:
      for (int k = 0; k < i->shape().rank(); ++k) {
        if (i->dimensions()[k] == x->attrs<IotaAttrs>().dimension) {
          return b.Iota(i->shape(), k);
        }
      }
      return nullptr;
    default:
      return TransposeOfDot(i, r);
  }
}

}  // namespace ptxla::hlo
