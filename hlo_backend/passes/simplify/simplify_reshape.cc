#include <algorithm>
#include <numeric>
#include <vector>

#include "hlo_backend/analysis/vector_loops.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/simplify/simplify_rules.h"

namespace ptxla::hlo {
namespace {

// The broadcast with other 1s among its dimensions.
Instruction* BroadcastWith(Instruction* broadcast, const DimVector& dims,
                           Builder& b) {
  Instruction* source = broadcast->operand(0);
  // The k-th dimension that is not 1 is the same one on both sides.
  const DimVector from = NonUnitPositions(broadcast->shape().dims());
  const DimVector to = NonUnitPositions(dims);
  DimVector mapping;
  for (size_t k = 0; k < broadcast->dimensions().size(); ++k) {
    if (source->shape().dim(static_cast<int>(k)) == 1) continue;
    for (size_t n = 0; n < from.size(); ++n) {
      if (from[n] == broadcast->dimensions()[k]) mapping.push_back(to[n]);
    }
  }
  if (HasUnitDims(source->shape())) {
    source = b.Reshape(source, DropUnitDims(source->shape().dims()));
  }
  return b.Broadcast(source, dims, mapping);
}

// A broadcast seen through a reshape. 1s are no reason to have it in two steps:
// of [4,1,n] each row would be a tile of its own.
Instruction* ReshapeOfBroadcast(Instruction* i, Rewriter& r) {
  Instruction* broadcast = i->operand(0);
  Builder& b = r.builder();
  const DimVector& dims = i->shape().dims();
  if (broadcast->operand(0)->shape().IsScalar()) {
    return b.BroadcastScalar(broadcast->operand(0), dims);
  }
  if (SameUpToDegenerateDims(i->shape(), broadcast->shape())) {
    return BroadcastWith(broadcast, dims, b);
  }
  if (!HasUnitDims(broadcast->shape())) return nullptr;
  const DimVector kept = DropUnitDims(broadcast->shape().dims());
  return b.Reshape(BroadcastWith(broadcast, kept, b), dims);
}

// The 1s go before the transpose, so that it meets a product.
Instruction* DropUnitsOfTranspose(Instruction* i, Rewriter& r) {
  Instruction* transpose = i->operand(0);
  const Shape& turned = transpose->shape();
  // Where others are joined or parted too: of lanes of one element alone, which
  // would be laid out for nothing.
  if (!HasUnitDims(turned) || (turned.dim(turned.rank() - 1) != 1 &&
                               !SameUpToDegenerateDims(i->shape(), turned))) {
    return nullptr;
  }
  Instruction* x = transpose->operand(0);
  const DimVector kept = NonUnitPositions(x->shape().dims());
  DimVector permutation;
  for (int64_t d : transpose->dimensions()) {
    for (size_t k = 0; k < kept.size(); ++k) {
      if (kept[k] == d) permutation.push_back(static_cast<int64_t>(k));
    }
  }
  Builder& b = r.builder();
  Instruction* value =
      b.Transpose(b.Reshape(x, DropUnitDims(x->shape().dims())), permutation);
  // New ones come behind it.
  return value->shape().SameDims(i->shape())
             ? value
             : b.Reshape(value, i->shape().dims());
}

// Planes of an array that are cut from parts of them, and joined again: planes
// that follow one another.
//
//   reshape(slice(f32[2,64,8,128] reshape(f32[128,8,128] x), [1:2], ...))
//   ==> f32[64,8,128] slice(x, [64:128], ...)
Instruction* ReshapeOfPlanes(Instruction* i, Rewriter& r) {
  const Instruction* slice = i->operand(0);
  Instruction* parted = slice->operand(0);
  if (parted->opcode() != Opcode::kReshape) return nullptr;
  Instruction* x = parted->operand(0);
  const Shape &to = i->shape(), &from = x->shape(), &parts = parted->shape();
  if (to.rank() != from.rank() || to.rank() < 3 || parts.dim(0) == 0) {
    return nullptr;
  }
  const SliceAttrs& attrs = slice->attrs<SliceAttrs>();
  for (int d = 0; d < parts.rank(); ++d) {
    if (attrs.strides[d] != 1 ||
        (d > 0 && slice->shape().dim(d) != parts.dim(d))) {
      return nullptr;
    }
  }
  DimVector starts(from.rank(), 0), limits = from.dims();
  for (int d = 1; d < to.rank(); ++d) {
    if (to.dim(d) != from.dim(d)) return nullptr;
  }
  if (from.dim(0) % parts.dim(0) != 0) return nullptr;
  const int64_t planes = from.dim(0) / parts.dim(0);
  starts[0] = attrs.starts[0] * planes;
  limits[0] = attrs.limits[0] * planes;
  return r.builder().Slice(x, starts, limits);
}

}  // namespace

Instruction* SimplifyReshape(Instruction* i, Rewriter& r) {
  Instruction* x = i->operand(0);
  if (i->opcode() == Opcode::kCopy) {
    return i->shape() == x->shape() && i->shape().IsArray() ? x : nullptr;
  }
  if (i->opcode() == Opcode::kBitcast) return nullptr;
  // The layout of a laid out value is a decision that a reshape may change.
  if (i->shape().has_layout()) return nullptr;
  if (i->shape().SameDims(x->shape())) return x;
  switch (x->opcode()) {
    case Opcode::kReshape:
      return r.builder().Reshape(x->operand(0), i->shape().dims());
    case Opcode::kBroadcast:
      return ReshapeOfBroadcast(i, r);
    case Opcode::kTranspose:
      return DropUnitsOfTranspose(i, r);
    case Opcode::kSlice:
      return ReshapeOfPlanes(i, r);
    case Opcode::kIota: {
      if (!SameUpToDegenerateDims(i->shape(), x->shape())) return nullptr;
      const DimVector from = NonUnitPositions(x->shape().dims());
      const DimVector to = NonUnitPositions(i->shape().dims());
      for (size_t n = 0; n < from.size(); ++n) {
        if (from[n] == x->attrs<IotaAttrs>().dimension) {
          return r.builder().Iota(i->shape(), to[n]);
        }
      }
      return nullptr;
    }
    default:
      return SimplifyUndone(i, r);
  }
}

Instruction* BroadcastInOrder(Instruction* source, const DimVector& dims,
                              DimVector mapping, Builder& b) {
  if (!IsIncreasing(mapping)) {
    DimVector order(mapping.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](int64_t x, int64_t y) { return mapping[x] < mapping[y]; });
    source = b.Transpose(source, order);
    std::sort(mapping.begin(), mapping.end());
  }
  return b.Broadcast(source, dims, mapping);
}

Instruction* SimplifyBroadcast(Instruction* i, Rewriter& r) {
  if (i->shape().has_layout()) return nullptr;
  Instruction* x = i->operand(0);
  Builder& b = r.builder();
  const DimVector& dims = i->shape().dims();
  if (i->shape().SameDims(x->shape()) && IsIdentityMapping(i->dimensions())) {
    return x;
  }
  // Dimensions of size 1 that are added are names, not copies.
  if (x->shape().rank() > 0 &&
      i->shape().ElementCount() == x->shape().ElementCount() &&
      std::is_sorted(i->dimensions().begin(), i->dimensions().end())) {
    return b.Reshape(x, dims);
  }
  if (x->IsConstant() && x->shape().rank() > 0 && !x->literal().IsElided() &&
      x->literal().IsSplat()) {
    Literal scalar = Literal::SplatBytes(Shape::Scalar(x->shape().type()),
                                         x->literal().bytes());
    return b.BroadcastScalar(b.Constant(std::move(scalar)), dims);
  }
  if (x->opcode() == Opcode::kBroadcast) {
    return b.Broadcast(x->operand(0), dims,
                       Permuted(i->dimensions(), x->dimensions()));
  }
  if (HasUnitDims(x->shape())) {
    const DimVector kept = NonUnitPositions(x->shape().dims());
    return b.Broadcast(b.Reshape(x, DropUnitDims(x->shape().dims())), dims,
                       Permuted(i->dimensions(), kept));
  }
  if (!IsIncreasing(i->dimensions())) {
    return BroadcastInOrder(
        x, dims, DimVector(i->dimensions().begin(), i->dimensions().end()), b);
  }
  return nullptr;
}

}  // namespace ptxla::hlo
