#include "hlo_backend/passes/products/dot_strength_reduction.h"

#include <algorithm>

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"

namespace ptxla::hlo {
namespace {

// A vector of so small a part of the matrix is turned, where it lies otherwise.
constexpr int64_t kVectorShare = 8;
// Of members of a batch, sums down the rows of so many are products (libtpu
// 0.0.42.1 on v4, v5e and v6e: 63 are a sum, 64 a product, whatever else).
constexpr int64_t kRowsOfProduct = 64;

struct Factor {
  Instruction* value;
  const DimVector &batch, &contracting;

  DimVector Free() const {
    return Others(value->shape().rank(), batch, contracting);
  }
  int64_t FreeElements() const {
    int64_t count = 1;
    for (int64_t d : Free()) count *= value->shape().dim(d);
    return count;
  }
};

Instruction* AsF32(Builder& b, Instruction* x) {
  return x->shape().type() == PrimitiveType::kF32
             ? x
             : b.Convert(x, PrimitiveType::kF32);
}

bool IsNarrowFloat(PrimitiveType type) {
  return type == PrimitiveType::kF32 || type == PrimitiveType::kBf16 ||
         type == PrimitiveType::kF16;
}

// The vector's dimensions that the matrix has too, in the matrix's order, as a
// permutation of the vector's own; empty if it needs none.
DimVector OrderOf(const Factor& vector, const Factor& matrix) {
  DimVector order;
  for (int d = 0; d < matrix.value->shape().rank(); ++d) {
    for (size_t k = 0; k < matrix.batch.size(); ++k) {
      if (matrix.batch[k] == d) order.push_back(vector.batch[k]);
    }
    for (size_t k = 0; k < matrix.contracting.size(); ++k) {
      if (matrix.contracting[k] == d) order.push_back(vector.contracting[k]);
    }
  }
  return order;
}

// Each element of the matrix times the vector's, in the matrix's order.
Instruction* Multiplied(Builder& b, const Factor& vector,
                        const Factor& matrix) {
  const Shape& shape = matrix.value->shape();
  const DimVector order = OrderOf(vector, matrix);
  DimVector shared, positions;
  for (int64_t d : order) shared.push_back(vector.value->shape().dim(d));
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (Contains(matrix.batch, d) || Contains(matrix.contracting, d)) {
      positions.push_back(d);
    }
  }
  Instruction* x = vector.value;
  if (!IsIncreasing(order)) {
    DimVector turned = order;  // its free dimensions are 1s
    for (int64_t d : vector.Free()) turned.push_back(d);
    x = b.Transpose(x, turned);
  }
  if (x->shape().dims() != shared) x = b.Reshape(x, shared);
  return b.Multiply(b.Broadcast(AsF32(b, x), shape.dims(), positions),
                    AsF32(b, matrix.value));
}

Instruction* AsResult(Builder& b, Instruction* value, const Instruction& dot) {
  if (dot.shape().type() != PrimitiveType::kF32) {
    value = b.Convert(value, dot.shape().type());
  }
  return value->shape().dims() == dot.shape().dims()
             ? value
             : b.Reshape(value, dot.shape().dims());
}

// The sum that stands for the dot, or nullptr.
Instruction* Reduced(Instruction* dot, const Factor& vector,
                     const Factor& matrix) {
  const Shape& shape = matrix.value->shape();
  // Members of a batch whose sums would run down many rows stay products; sums
  // over planes (of experts) add registers.
  int64_t contracted_size = 1;
  for (int64_t d : matrix.contracting) contracted_size *= shape.dim(d);
  if (!matrix.batch.empty() && Contains(matrix.contracting, shape.rank() - 2) &&
      !Contains(matrix.contracting, shape.rank() - 1) &&
      contracted_size >= kRowsOfProduct) {
    return nullptr;
  }
  // What is left of the matrix is the result's: batch, then free dimensions.
  DimVector left = matrix.batch;
  for (int64_t d : matrix.Free()) left.push_back(d);
  const DimVector order = OrderOf(vector, matrix);
  const bool turns = !IsIncreasing(order);
  if (!IsIncreasing(left) ||
      (turns && vector.value->shape().ElementCount() * kVectorShare >
                    shape.ElementCount())) {
    return nullptr;
  }
  Builder b(dot->parent());
  b.set_metadata(dot->shared_metadata());
  DimVector contracted = matrix.contracting;
  std::sort(contracted.begin(), contracted.end());
  Instruction* sum =
      b.Reduce(Multiplied(b, vector, matrix), b.Zero(PrimitiveType::kF32),
               contracted, b.Scalar2(Opcode::kAdd, PrimitiveType::kF32));
  return AsResult(b, sum, *dot);
}

// Of a dot that adds nothing up: the arrays would multiply one row by one
// column for each element of the vector.
Instruction* Scaled(Instruction* dot, const Factor& vector,
                    const Factor& matrix) {
  Builder b(dot->parent());
  b.set_metadata(dot->shared_metadata());
  Instruction* value = Multiplied(b, vector, matrix);
  DimVector order = matrix.batch;  // the result's
  for (int64_t d : matrix.Free()) order.push_back(d);
  for (int64_t d : matrix.contracting) order.push_back(d);  // 1s
  if (!IsIncreasing(order)) value = b.Transpose(value, order);
  return AsResult(b, value, *dot);
}

// An operand of an outer product, at its places in the result: behind the batch
// come the free dimensions of the left one, then those of the right one.
Instruction* Spread(Builder& b, const Factor& side, int64_t free_at,
                    const Instruction& dot) {
  DimVector order = side.batch, dims, positions;
  for (int64_t d : side.Free()) order.push_back(d);
  const int64_t batch = side.batch.size();
  for (int64_t k = 0; k < static_cast<int64_t>(order.size()); ++k) {
    dims.push_back(side.value->shape().dim(order[k]));
    positions.push_back(k < batch ? k : free_at + k - batch);
  }
  for (int64_t d : side.contracting) order.push_back(d);  // 1s
  Instruction* x = side.value;
  if (!IsIncreasing(order)) x = b.Transpose(x, order);
  if (x->shape().dims() != dims) x = b.Reshape(x, dims);
  // Rounded once, as the product is.
  if (x->shape().type() != dot.shape().type()) x = AsF32(b, x);
  return b.Broadcast(x, dot.shape().dims(), positions);
}

Instruction* Outer(Instruction* dot, const Factor& lhs, const Factor& rhs) {
  Builder b(dot->parent());
  b.set_metadata(dot->shared_metadata());
  const int64_t batch = lhs.batch.size();
  const int64_t behind = batch + lhs.Free().size();
  Instruction* x = Spread(b, lhs, batch, *dot);
  Instruction* y = Spread(b, rhs, behind, *dot);
  if (x->shape().type() != y->shape().type()) {
    x = AsF32(b, x);
    y = AsF32(b, y);
  }
  Instruction* value = b.Multiply(x, y);
  return value->shape().type() == dot->shape().type()
             ? value
             : b.Convert(value, dot->shape().type());
}

Instruction* ValueOf(Instruction* dot) {
  const DotAttrs& attrs = dot->attrs<DotAttrs>();
  if (!attrs.sparsity.empty() || dot->shape().has_layout()) return nullptr;
  for (const Instruction* operand : dot->operands()) {
    if (!IsNarrowFloat(operand->shape().type())) return nullptr;
  }
  if (!IsNarrowFloat(dot->shape().type())) return nullptr;
  const Factor lhs{dot->operand(0), attrs.lhs_batch, attrs.lhs_contracting};
  const Factor rhs{dot->operand(1), attrs.rhs_batch, attrs.rhs_contracting};
  int64_t contracted = 1;
  for (int64_t d : lhs.contracting) contracted *= lhs.value->shape().dim(d);
  if (contracted == 0) return nullptr;
  const auto stands_for = contracted == 1 ? &Scaled : &Reduced;
  if (lhs.FreeElements() == 1) return stands_for(dot, lhs, rhs);
  if (rhs.FreeElements() == 1) return stands_for(dot, rhs, lhs);
  return contracted == 1 ? Outer(dot, lhs, rhs) : nullptr;
}

}  // namespace

absl::StatusOr<bool> DotStrengthReductionPass::Run(Module* module,
                                                   const PassContext&) {
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    for (Instruction* i : c->PostOrder()) {
      if (i->opcode() != Opcode::kDot) continue;
      Instruction* value = ValueOf(i);
      if (value == nullptr) continue;
      c->Replace(i, value);
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
