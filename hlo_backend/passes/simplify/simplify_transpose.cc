#include <algorithm>
#include <vector>

#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/analysis/vector_loops.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/simplify/simplify_rules.h"

namespace ptxla::hlo {
namespace {

// transpose(reshape(x)) where the reshape only adds or drops 1s: the 1s come
// after the transpose, so that it meets a product.
Instruction* TransposeOfUnits(Instruction* i, Rewriter& r) {
  Instruction* reshape = i->operand(0);
  Instruction* x = reshape->operand(0);
  if (!HasUnitDims(reshape->shape()) ||
      !SameUpToDegenerateDims(reshape->shape(), x->shape())) {
    return nullptr;
  }
  const DimVector kept = NonUnitPositions(reshape->shape().dims());
  DimVector permutation;
  for (int64_t d : i->dimensions()) {
    const auto it = std::find(kept.begin(), kept.end(), d);
    if (it != kept.end()) permutation.push_back(it - kept.begin());
  }
  Builder& b = r.builder();
  Instruction* value = b.Reshape(x, DropUnitDims(x->shape().dims()));
  return b.Reshape(b.Transpose(value, permutation), i->shape().dims());
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
  // Dropped 1s stay before the transpose (SimplifyReshape puts them there).
  if (SameUpToDegenerateDims(reshape->shape(), x->shape())) return nullptr;
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

// transpose(reshape(x)) where the reshape splits dimensions and the transpose
// keeps the parts of each together: transpose first.
Instruction* TransposeOfSplit(Instruction* i, Rewriter& r) {
  Instruction* reshape = i->operand(0);
  Instruction* x = reshape->operand(0);
  const DimVector& parts = reshape->shape().dims();
  if (HasUnitDims(reshape->shape()) || x->shape().rank() < 2 ||
      reshape->shape().rank() <= x->shape().rank()) {
    return nullptr;
  }
  // Of each part, the dimension of x that it is of.
  DimVector whole;
  int64_t rest = 1;
  int d = -1;
  for (const int64_t part : parts) {
    if (rest == 1) {
      if (++d == x->shape().rank()) return nullptr;
      rest = x->shape().dim(d);
    }
    if (rest % part != 0) return nullptr;
    rest /= part;
    whole.push_back(d);
  }
  if (rest != 1 || d + 1 != x->shape().rank()) return nullptr;
  // Parts of what is in lanes would not be a name of the same memory.
  const int64_t minor = i->dimensions().back();
  if (std::count(whole.begin(), whole.end(), whole[minor]) > 1) return nullptr;
  DimVector permutation;
  for (size_t k = 0; k < parts.size(); ++k) {
    const int64_t part = i->dimensions()[k];
    const bool begins = part == 0 || whole[part - 1] != whole[part];
    if (begins) {
      permutation.push_back(whole[part]);
    } else if (k == 0 || i->dimensions()[k - 1] != part - 1) {
      return nullptr;
    }
  }
  Builder& b = r.builder();
  return b.Reshape(b.Transpose(x, permutation), i->shape().dims());
}

// Of a broadcast that others read in its order, too: what is transposed is
// what it is of.
Instruction* TransposeOfBroadcast(Instruction* i, Rewriter& r) {
  Instruction* broadcast = i->operand(0);
  Instruction* source = broadcast->operand(0);
  DimVector mapping;
  for (int64_t d : broadcast->dimensions()) {
    for (int k = 0; k < i->shape().rank(); ++k) {
      if (i->dimensions()[k] == d) mapping.push_back(k);
    }
  }
  if (!IsIncreasing(mapping) &&
      source->shape().ElementCount() >= i->shape().ElementCount()) {
    return nullptr;
  }
  return BroadcastInOrder(source, i->shape().dims(), mapping, r.builder());
}

// transpose(concatenate(columns)) where only the dimension along which they
// stand moves: they are put together where it comes to be.
//
//   transpose(f32[8,64,2] concatenate(f32[8,64,1] ...), {2,0,1})
//   ==> f32[2,8,64] concatenate(f32[1,8,64] reshape ...)
Instruction* TransposeOfColumns(Instruction* i, Rewriter& r) {
  const Instruction* x = i->operand(0);
  const int64_t along = x->dimensions()[0];
  if (x->user_count() != 1) return nullptr;
  int64_t place = 0;
  DimVector others;
  for (int k = 0; k < i->shape().rank(); ++k) {
    if (i->dimensions()[k] == along) {
      place = k;
    } else {
      others.push_back(i->dimensions()[k]);
    }
  }
  if (!IsIncreasing(others)) return nullptr;
  // (Planes would be few numbers in the lanes.)
  if (place == i->shape().rank() - 1 &&
      i->shape().dim(static_cast<int>(place)) < kLanes) {
    return nullptr;
  }
  std::vector<Instruction*> parts;
  for (Instruction* part : x->operands()) {
    if (part->shape().dim(static_cast<int>(along)) != 1) return nullptr;
    parts.push_back(part);
  }
  for (Instruction*& part : parts) {
    part = r.builder().Reshape(part,
                               Permuted(part->shape().dims(), i->dimensions()));
  }
  return r.builder().Concatenate(parts, place);
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
    case Opcode::kConcatenate:
      return TransposeOfColumns(i, r);
    case Opcode::kReshape:
      if (Instruction* value = TransposeOfUnits(i, r)) return value;
      if (Instruction* value = TransposeOfJoin(i, r)) return value;
      return TransposeOfSplit(i, r);
    case Opcode::kIota:
      for (int k = 0; k < i->shape().rank(); ++k) {
        if (i->dimensions()[k] == x->attrs<IotaAttrs>().dimension) {
          return b.Iota(i->shape(), k);
        }
      }
      return nullptr;
    default:
      return SimplifyTransposedDot(i, r);
  }
}

}  // namespace ptxla::hlo
