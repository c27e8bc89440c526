// Formulas of floating point tensors as instructions. Internal to the reader.
//
//   MathEmitter m(&builder, x->shape());
//   Instruction* y = m.Add(m.Mul(x, x), m.Value(1));
#ifndef PTXLA_HLO_BACKEND_STABLEHLO_MATH_EMITTER_H_
#define PTXLA_HLO_BACKEND_STABLEHLO_MATH_EMITTER_H_

#include <limits>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo::mlir {

class MathEmitter {
 public:
  using I = Instruction*;
  MathEmitter(Builder* b, const Shape& shape) : b_(*b), shape_(shape) {}

  Builder& builder() { return b_; }
  bool is_f64() const { return shape_.type() == PrimitiveType::kF64; }
  I Value(double value) {
    I scalar = b_.Constant(Literal::Splat(Shape::Scalar(shape_.type()), value));
    return shape_.IsScalar() ? scalar
                             : b_.BroadcastScalar(scalar, shape_.dims());
  }
  I Infinity() { return Value(std::numeric_limits<double>::infinity()); }
  I Nan() { return Value(std::numeric_limits<double>::quiet_NaN()); }
  I Add(I x, I y) { return b_.Add(x, y); }
  I Add(I x, double y) { return b_.Add(x, Value(y)); }
  I Sub(I x, I y) { return b_.Subtract(x, y); }
  I Mul(I x, I y) { return b_.Multiply(x, y); }
  I Mul(double x, I y) { return b_.Multiply(Value(x), y); }
  I Div(I x, I y) { return b_.Divide(x, y); }
  I Is(CompareDirection direction, I x, I y) {
    return b_.Compare(x, y, direction);
  }
  I Is(CompareDirection direction, I x, double y) {
    return b_.Compare(x, Value(y), direction);
  }
  I Either(I pred, I on_true, I on_false) {
    return b_.Select(pred, on_true, on_false);
  }
  I IsInteger(I x) { return Is(CompareDirection::kEq, x, b_.Floor(x)); }

  // Highest power first.
  I Polynomial(absl::Span<const double> coefficients, I x) {
    I sum = Value(coefficients[0]);
    for (size_t i = 1; i < coefficients.size(); ++i) {
      sum = Add(Mul(sum, x), Value(coefficients[i]));
    }
    return sum;
  }

 private:
  Builder& b_;
  const Shape shape_;
};

// Applies `emit` to x, in f32 if its type is narrower. InvalidArgument unless
// all are floating point.
template <class Emit>
absl::StatusOr<Instruction*> InWideType(Builder* b,
                                        absl::Span<Instruction* const> xs,
                                        Emit emit) {
  const PrimitiveType type = xs[0]->shape().type();
  std::vector<Instruction*> wide;
  for (Instruction* x : xs) {
    if (!IsFloat(x->shape().type()) || !x->shape().SameDims(xs[0]->shape())) {
      return absl::InvalidArgumentError(
          "it takes floating point tensors of one shape");
    }
    wide.push_back(BitWidth(type) < 32 ? b->Convert(x, PrimitiveType::kF32)
                                       : x);
  }
  MathEmitter m(b, wide[0]->shape());
  Instruction* result = emit(m, wide);
  return BitWidth(type) < 32 ? b->Convert(result, type) : result;
}

}  // namespace ptxla::hlo::mlir

#endif  // PTXLA_HLO_BACKEND_STABLEHLO_MATH_EMITTER_H_
