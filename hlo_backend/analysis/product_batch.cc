#include "hlo_backend/analysis/product_batch.h"

#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/attributes.h"

namespace ptxla::hlo {
int ProductBatch(const Instruction& dot) {
  const DotAttrs& attrs = dot.attrs<DotAttrs>();
  const auto batch = static_cast<int>(attrs.lhs_batch.size());
  const Shape& lhs = dot.operand(0)->shape();
  const int members = lhs.rank() - 2;
  if (attrs.lhs_contracting.size() != 1 || members <= batch) return batch;
  if (batch > 0) return members;
  // Rows of all planes are rows of one matrix if no padding is between them.
  const bool rows_follow = attrs.lhs_contracting[0] == lhs.rank() - 1 &&
                           lhs.dim(lhs.rank() - 2) % kTileRows == 0;
  return rows_follow ? 0 : members;
}

int64_t SharingMembers(const Instruction& dot) {
  int64_t members = 1;
  const int all = ProductBatch(dot);
  for (int d = OperandBatch(dot, 1); d < all; ++d) {
    members *= dot.operand(0)->shape().dim(d);
  }
  return members;
}

int OperandBatch(const Instruction& dot, int operand) {
  return operand == 0
             ? ProductBatch(dot)
             : static_cast<int>(dot.attrs<DotAttrs>().rhs_batch.size());
}

const Instruction* SharedMatrix(const Instruction& dot, int operand) {
  const Instruction* x = dot.operand(operand);
  const DotAttrs& attrs = dot.attrs<DotAttrs>();
  const DimVector& batch = operand == 0 ? attrs.lhs_batch : attrs.rhs_batch;
  const auto nb = static_cast<int64_t>(batch.size());
  if (x->opcode() != Opcode::kBroadcast || nb == 0 ||
      x->shape().rank() != nb + 2 || attrs.lhs_contracting.size() != 1 ||
      ProductBatch(dot) != nb) {
    return nullptr;
  }
  for (int64_t d = 0; d < nb; ++d) {
    if (batch[d] != d) return nullptr;
  }
  const int64_t own = x->operand(0)->shape().rank() - 2;
  if (own < 0 || own >= nb) return nullptr;
  for (int64_t d = 0; d < own + 2; ++d) {
    if (x->dimensions()[d] != (d < own ? d : d + nb - own)) return nullptr;
  }
  return x->operand(0);
}

const Instruction* SlicedMembers(const Instruction& dot, int operand) {
  const Instruction* x = dot.operand(operand);
  const DotAttrs& attrs = dot.attrs<DotAttrs>();
  const DimVector& batch = operand == 0 ? attrs.lhs_batch : attrs.rhs_batch;
  if (x->opcode() != Opcode::kSlice || batch.empty() || batch[0] != 0 ||
      x->shape().rank() < 3) {
    return nullptr;
  }
  const Shape& from = x->operand(0)->shape();
  for (const Shape* s : {&from, &x->shape()}) {
    if (s->has_layout() && !s->layout().IsRowMajor()) return nullptr;
  }
  for (int d = 0; d < from.rank(); ++d) {
    if (x->attrs<SliceAttrs>().strides[d] != 1 ||
        (d > 0 && x->shape().dim(d) != from.dim(d))) {
      return nullptr;
    }
  }
  return x;
}

}  // namespace ptxla::hlo
