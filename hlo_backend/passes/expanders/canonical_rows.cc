#include "hlo_backend/passes/expanders/canonical_rows.h"

#include <algorithm>
#include <vector>

namespace ptxla::hlo {

PrimitiveType TypeOf32Bits(PrimitiveType type) {
  if (BitWidth(type) == 32) return type;
  return IsFloat(type) ? PrimitiveType::kF32 : kS32;
}

Instruction* As(Builder& b, Instruction* x, PrimitiveType type) {
  return x->shape().type() == type ? x : b.Convert(x, type);
}

bool HaveRows(const Shape& x, const Shape& indices) {
  return !IsComplex(x.type()) && BitWidth(x.type()) <= 32 &&
         BitWidth(indices.type()) <= 32 && x.ElementCount() > 0 &&
         indices.ElementCount() > 0;
}

bool IsRowIndex(const Shape& indices, int64_t index_vector_dim) {
  return index_vector_dim == 1 && BitWidth(indices.type()) == 32 &&
         (indices.rank() == 1 || (indices.rank() == 2 && indices.dim(1) == 1));
}

Instruction* FlatIndices(Builder& b, Instruction* indices) {
  return indices->shape().rank() > 1
             ? b.Reshape(indices, {indices->shape().dim(0)})
             : indices;
}

Instruction* WithIndices(Builder& b, const Instruction& i,
                         Instruction* indices) {
  std::vector<Instruction*> operands(i.operands().begin(), i.operands().end());
  operands[1] = indices;
  return b.computation()->AddLike(i, i.shape(), operands);
}

bool IsOneWindow(const RowIndices& rows) {
  return std::all_of(rows.batch().begin(), rows.batch().end(),
                     [](int64_t size) { return size == 1; });
}

}  // namespace ptxla::hlo
