#include "hlo_backend/passes/expanders/index_vectors.h"

namespace ptxla::hlo {

IndexVectors::IndexVectors(Builder& b, Instruction* indices, int64_t vector_dim,
                           const DimVector& indexed, const DimVector& batching,
                           const DimVector& indices_batching)
    : dims_(batching) {
  DimVector order;
  for (int64_t d = 0; d < indices->shape().rank(); ++d) {
    if (d == vector_dim) continue;
    order.push_back(d);
    batch_.push_back(indices->shape().dim(d));
    count_ *= batch_.back();
  }
  if (vector_dim < indices->shape().rank()) order.push_back(vector_dim);
  const PrimitiveType type = BitWidth(indices->shape().type()) < 32
                                 ? PrimitiveType::kS32
                                 : indices->shape().type();
  std::vector<Instruction*> columns;
  for (int64_t along : indices_batching) {
    if (along > vector_dim) --along;
    columns.push_back(
        b.Reshape(b.Iota(Shape::Array(type, batch_), along), {count_, 1}));
  }
  Instruction* named =
      b.Reshape(b.Transpose(indices, order),
                {count_, static_cast<int64_t>(indexed.size())});
  if (named->shape().type() != type) named = b.Convert(named, type);
  columns.push_back(named);
  all_ = columns.size() == 1 ? named : b.Concatenate(columns, 1);
  dims_.insert(dims_.end(), indexed.begin(), indexed.end());
}

Instruction* IndexVectors::At(Builder& b, Instruction* all,
                              Instruction* n) const {
  const auto numbers = static_cast<int64_t>(dims_.size());
  return b.Reshape(
      b.DynamicSlice(all, {n, b.Zero(n->shape().type())}, {1, numbers}),
      {numbers});
}

std::vector<Instruction*> IndexVectors::Starts(Builder& b, Instruction* at,
                                               const Shape& x) const {
  std::vector<Instruction*> starts(x.rank(), b.Zero(at->shape().type()));
  for (size_t k = 0; k < dims_.size(); ++k) {
    const auto n = static_cast<int64_t>(k);
    starts[dims_[k]] = b.Reshape(b.Slice(at, {n}, {n + 1}), {});
  }
  return starts;
}

Instruction* IndexVectors::Inside(Builder& b, Instruction* at, const Shape& x,
                                  const DimVector& sizes) const {
  const PrimitiveType type = at->shape().type();
  std::vector<Instruction*> last;
  for (const int64_t d : dims_) {
    last.push_back(b.Reshape(
        b.ConstantScalar(type, static_cast<double>(x.dim(d) - sizes[d])), {1}));
  }
  Instruction* most = last.size() == 1 ? last[0] : b.Concatenate(last, 0);
  Instruction* inside = b.Compare(at, most, CompareDirection::kLe);
  if (type == PrimitiveType::kS32 || type == PrimitiveType::kS64) {
    Instruction* zero = b.BroadcastScalar(b.Zero(type), at->shape().dims());
    inside = b.And(inside, b.Compare(at, zero, CompareDirection::kGe));
  }
  return b.Reduce(inside, b.One(PrimitiveType::kPred), {0},
                  b.Scalar2(Opcode::kAnd, PrimitiveType::kPred));
}

}  // namespace ptxla::hlo
