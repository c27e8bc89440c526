#include "hlo_backend/passes/dynamic/padded_array.h"

#include <algorithm>

#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

bool PaddedArray::AnyDynamic() const {
  return std::any_of(sizes.begin(), sizes.end(),
                     [](const Instruction* s) { return s != nullptr; });
}

std::vector<Instruction*> DataOf(PaddedOperands arrays) {
  std::vector<Instruction*> data;
  for (const PaddedArray& x : arrays) data.push_back(x.data);
  return data;
}

PaddedArray Whole(Instruction* x) {
  const int rank = x->shape().IsArray() ? x->shape().rank() : 0;
  return {x, std::vector<Instruction*>(rank, nullptr)};
}

Shape Bounds(const Shape& shape) {
  Shape out = shape;
  if (shape.IsTuple()) {
    for (int k = 0; k < shape.element_count_of_tuple(); ++k) {
      *out.mutable_element(k) = Bounds(shape.element(k));
    }
  } else if (shape.IsArray()) {
    for (int d = 0; d < shape.rank(); ++d) out.set_dynamic_dim(d, false);
  }
  return out;
}

Instruction* PaddedBuilder::Like(const Instruction& i,
                                 absl::Span<Instruction* const> operands) {
  return b_.computation()->AddLike(i, Bounds(i.shape()), operands);
}

std::vector<PaddedArray> PaddedBuilder::Each(Instruction* result, int64_t count,
                                             const DimensionSizes& sizes) {
  if (!result->shape().IsTuple()) return {{result, sizes}};
  std::vector<PaddedArray> parts;
  for (int64_t k = 0; k < count; ++k) {
    parts.push_back({b_.GetTupleElement(result, k), sizes});
  }
  return parts;
}

DimensionSizes PaddedBuilder::Common(PaddedOperands arrays) {
  DimensionSizes sizes = arrays[0].sizes;
  for (const PaddedArray& x : arrays.subspan(1)) {
    for (size_t d = 0; d < sizes.size(); ++d) {
      sizes[d] = Smaller(sizes[d], x.sizes[d]);
    }
  }
  return sizes;
}

Instruction* PaddedBuilder::Number(int64_t n) {
  return b_.Constant(Literal::Scalar<int32_t>(static_cast<int32_t>(n)));
}

Instruction* PaddedBuilder::SizeOf(const PaddedArray& x, int64_t d) {
  if (x.IsDynamic(d)) return x.sizes[d];
  return Number(x.data->shape().dim(static_cast<int>(d)));
}

Instruction* PaddedBuilder::Smaller(Instruction* a, Instruction* b) {
  if (a == nullptr || a == b) return b;
  return b == nullptr ? a : b_.Minimum(a, b);
}

Instruction* PaddedBuilder::Below(const DimVector& dims, int64_t d,
                                  Instruction* limit) {
  Instruction* index = b_.Iota(Shape::Array(PrimitiveType::kS32, dims), d);
  return b_.Compare(index, b_.BroadcastScalar(limit, dims),
                    CompareDirection::kLt);
}

Instruction* PaddedBuilder::Counts(const PaddedArray& x,
                                   const DimVector& dimensions) {
  Instruction* all = nullptr;
  for (const int64_t d : dimensions) {
    if (!x.IsDynamic(d)) continue;
    Instruction* counts = Below(x.data->shape().dims(), d, x.sizes[d]);
    all = all == nullptr ? counts : b_.And(all, counts);
  }
  return all;
}

Instruction* PaddedBuilder::Filled(const PaddedArray& x, Instruction* value,
                                   const DimVector& dimensions) {
  Instruction* counts = Counts(x, dimensions);
  if (counts == nullptr) return x.data;
  return b_.Select(counts, x.data,
                   b_.BroadcastScalar(value, x.data->shape().dims()));
}

}  // namespace ptxla::hlo
