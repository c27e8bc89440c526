// What loops over the columns of matrices say about them in their bodies
// (linear_algebra_expander.h, counter_loop.h).
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_COLUMN_LOOPS_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_COLUMN_LOOPS_H_

#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {

// Matrices [batch, rows, columns] inside of a loop body.
class Matrices {
 public:
  explicit Matrices(Builder* b) : b_(*b) {}

  Instruction* Int(int32_t value, const DimVector& dims) {
    Instruction* c = b_.Constant(Literal::Scalar<int32_t>(value));
    return dims.empty() ? c : b_.BroadcastScalar(c, dims);
  }
  Instruction* Zero(const DimVector& dims,
                    PrimitiveType type = PrimitiveType::kF32) {
    return b_.BroadcastScalar(b_.Zero(type), dims);
  }
  // Of real numbers: themselves.
  Instruction* Conjugate(Instruction* x) {
    if (!IsComplex(x->shape().type())) return x;
    return b_.Binary(Opcode::kComplex, b_.Unary(Opcode::kReal, x),
                     b_.Negate(b_.Unary(Opcode::kImag, x)));
  }
  // Set where the position along `dim` is `index`.
  Instruction* At(const DimVector& dims, int64_t dim, Instruction* index,
                  CompareDirection direction = CompareDirection::kEq) {
    return b_.Compare(b_.Iota(Shape::Array(PrimitiveType::kS32, dims), dim),
                      b_.BroadcastScalar(index, dims), direction);
  }
  // The sum of x along `dim`.
  Instruction* Sum(Instruction* x, int64_t dim) {
    return b_.Reduce(x, b_.Zero(x->shape().type()), {dim},
                     b_.Scalar2(Opcode::kAdd, x->shape().type()));
  }
  // Row or column `index`: what stands there along `dim`.
  Instruction* Pick(Instruction* x, int64_t dim, Instruction* index) {
    const DimVector& dims = x->shape().dims();
    Instruction* zero = b_.BroadcastScalar(b_.Zero(x->shape().type()), dims);
    return Sum(b_.Select(At(dims, dim, index), x, zero), dim);
  }
  // [batch, n] along all of dimension `dim`, the other one of the last two.
  Instruction* Spread(Instruction* x, const DimVector& dims, int64_t dim) {
    return b_.Broadcast(x, dims, {0, dim == 2 ? 1 : 2});
  }

 private:
  Builder& b_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_COLUMN_LOOPS_H_
