#include <algorithm>

#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/products/dot_side.h"
#include "hlo_backend/passes/products/score_order.h"
#include "hlo_backend/passes/simplify/simplify_rules.h"

namespace ptxla::hlo {
namespace {

// One side of a dot: its operand with the roles of its dimensions.
bool LeadingBatch(const DotSide& side) { return IsIdentityMapping(side.batch); }

// The operand is a transpose. With leading batch dimensions, one free and one
// contracting dimension, the dot can take those two in either order. Returns
// whether the side changed.
bool FoldTranspose(DotSide* side, Rewriter& r) {
  Instruction* t = side->operand;
  if (t->opcode() != Opcode::kTranspose || t->shape().has_layout()) {
    return false;
  }
  const int rank = t->shape().rank();
  if (!LeadingBatch(*side) || side->contracting.size() != 1 ||
      static_cast<int>(side->batch.size()) + 2 != rank) {
    return false;
  }
  if (t->dimensions()[rank - 2] < t->dimensions()[rank - 1]) return false;
  DimVector permutation(t->dimensions().begin(), t->dimensions().end());
  std::swap(permutation[rank - 2], permutation[rank - 1]);
  side->operand = IsIdentityMapping(permutation)
                      ? t->operand(0)
                      : r.builder().Transpose(t->operand(0), permutation);
  side->contracting[0] = side->contracting[0] == rank - 1 ? rank - 2 : rank - 1;
  return true;
}

// How many dimensions the operand had where the dot sees one leading batch
// dimension: reshape([8,2,128,64]) -> [16,128,64] gives 2, others 1.
int JoinedBatchDims(const DotSide& side) {
  Instruction* reshape = side.operand;
  if (reshape->opcode() != Opcode::kReshape || side.batch.size() != 1 ||
      side.batch[0] != 0 || reshape->shape().has_layout()) {
    return 1;
  }
  const Shape &from = reshape->operand(0)->shape(), &to = reshape->shape();
  const int extra = from.rank() - to.rank();
  if (extra <= 0) return 1;
  for (int d = 1; d < to.rank(); ++d) {
    if (to.dim(d) != from.dim(d + extra)) return 1;
  }
  // Dimensions of size 1 are no reason.
  for (int d = 0; d <= extra; ++d) {
    if (from.dim(d) == 1) return 1;
  }
  return extra + 1;
}

void SplitBatch(DotSide* side, absl::Span<const int64_t> batch_dims,
                Rewriter& r) {
  DimVector dims(batch_dims.begin(), batch_dims.end());
  const Shape& shape = side->operand->shape();
  for (int d = 1; d < shape.rank(); ++d) dims.push_back(shape.dim(d));
  side->operand = r.builder().Reshape(side->operand, dims);
  const int64_t extra = static_cast<int64_t>(batch_dims.size()) - 1;
  for (int64_t& c : side->contracting) c += extra;
  side->batch.clear();
  for (int64_t d = 0; d <= extra; ++d) side->batch.push_back(d);
}

Instruction* MakeDot(Instruction* i, const DotSide& lhs, const DotSide& rhs) {
  Instruction* dot = DotOf(*i, lhs, rhs, i->shape().type());
  CopyScoreOrder(*i, dot);
  return dot;
}

// Of dimensions of a transposed array those of the array.
DimVector InOperand(const Instruction& transpose, const DimVector& dims) {
  DimVector mapped;
  for (int64_t d : dims) mapped.push_back(transpose.dimensions()[d]);
  return mapped;
}

// The operand is a transpose of whole rows, whose batch is in front before it:
// the dot takes its other dimensions in any order. Free ones that change places
// do so in the product, if that is smaller: dS, turned for the gradient of
// grouped queries, is much larger than that. null: it stays.
Instruction* FoldRows(Instruction* i, int operand, DotSide lhs, DotSide rhs,
                      Rewriter& r) {
  DotSide& side = operand == 0 ? lhs : rhs;
  const Instruction& t = *side.operand;
  if (t.opcode() != Opcode::kTranspose || t.shape().has_layout()) {
    return nullptr;
  }
  const int64_t rank = t.shape().rank();
  const DimVector batch = InOperand(t, side.batch);
  if (!IsIdentityMapping(batch)) return nullptr;
  const DimVector free =
      InOperand(t, Others(rank, side.batch, side.contracting));
  const bool turns = !std::is_sorted(free.begin(), free.end());
  const bool moves_minor = t.dimensions()[rank - 1] != rank - 1;
  if ((turns || moves_minor) &&
      (!LeadingBatch(side) || i->shape().ByteSize() >= t.shape().ByteSize())) {
    return nullptr;
  }

  // Where each dimension of the old product stands in the new one.
  const int64_t first =
      static_cast<int64_t>(lhs.batch.size()) +
      (operand == 0 ? 0
                    : lhs.operand->shape().rank() -
                          static_cast<int64_t>(lhs.batch.size() +
                                               lhs.contracting.size()));
  DimVector sorted = free, order;
  std::sort(sorted.begin(), sorted.end());
  for (int64_t d = 0; d < i->shape().rank(); ++d) order.push_back(d);
  for (size_t k = 0; k < free.size(); ++k) {
    order[first + static_cast<int64_t>(k)] =
        first +
        (std::find(sorted.begin(), sorted.end(), free[k]) - sorted.begin());
  }
  side.batch = batch;
  side.contracting = InOperand(t, side.contracting);
  side.operand = side.operand->operand(0);
  Instruction* dot = MakeDot(i, lhs, rhs);
  return turns ? r.builder().Transpose(dot, order) : dot;
}

}  // namespace

Instruction* SimplifyDot(Instruction* i, Rewriter& r) {
  if (i->shape().has_layout()) return nullptr;
  const DotAttrs& dot = i->attrs<DotAttrs>();
  if (!dot.sparsity.empty()) return nullptr;
  DotSide lhs{i->operand(0), dot.lhs_batch, dot.lhs_contracting};
  DotSide rhs{i->operand(1), dot.rhs_batch, dot.rhs_contracting};
  const bool folded_lhs = FoldTranspose(&lhs, r);
  const bool folded_rhs = FoldTranspose(&rhs, r);
  if (folded_lhs || folded_rhs) return MakeDot(i, lhs, rhs);
  for (int operand = 0; operand < 2; ++operand) {
    if (Instruction* value = FoldRows(i, operand, lhs, rhs, r)) return value;
  }

  const int joined = std::max(JoinedBatchDims(lhs), JoinedBatchDims(rhs));
  if (joined > 1 && lhs.batch.size() == 1 && lhs.batch[0] == 0 &&
      rhs.batch[0] == 0) {
    const DotSide& from = JoinedBatchDims(lhs) == joined ? lhs : rhs;
    const Shape& shape = from.operand->operand(0)->shape();
    const DimVector batch(shape.dims().begin(), shape.dims().begin() + joined);
    SplitBatch(&lhs, batch, r);
    SplitBatch(&rhs, batch, r);
    return r.builder().Reshape(MakeDot(i, lhs, rhs), i->shape().dims());
  }
  return nullptr;
}

}  // namespace ptxla::hlo
