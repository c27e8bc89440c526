#include "hlo_backend/stablehlo/erf_inv.h"

#include <limits>

namespace ptxla::hlo::mlir {
namespace {

// Coefficients of Giles' polynomials, highest power first: for w < 5 in
// w - 2.5, else in sqrt(w) - 3.
constexpr double kNear[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                            -4.39150654e-06, 0.00021858087,  -0.00125372503,
                            -0.00417768164,  0.246640727,    1.50140941};
constexpr double kFar[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                           -0.00367342844,  0.00573950773,  -0.0076224613,
                           0.00943887047,   1.00167406,     2.83297682};

class ErfInvEmitter {
 public:
  ErfInvEmitter(Builder* b, const Shape& shape) : b_(*b), shape_(shape) {}

  Instruction* Value(double value) {
    Instruction* scalar =
        b_.Constant(Literal::Splat(Shape::Scalar(shape_.type()), value));
    return shape_.IsScalar() ? scalar
                             : b_.BroadcastScalar(scalar, shape_.dims());
  }
  Instruction* Polynomial(const double (&coefficients)[9], Instruction* w) {
    Instruction* p = Value(coefficients[0]);
    for (int i = 1; i < 9; ++i) {
      p = b_.Add(Value(coefficients[i]), b_.Multiply(p, w));
    }
    return p;
  }
  Instruction* ErfInv(Instruction* x) {
    // w = -log((1 - x)(1 + x)).
    Instruction* w = b_.Negate(b_.Log1p(b_.Multiply(x, b_.Negate(x))));
    Instruction* near = Polynomial(kNear, b_.Subtract(w, Value(2.5)));
    Instruction* far = Polynomial(kFar, b_.Subtract(b_.Sqrt(w), Value(3)));
    Instruction* is_near = b_.Compare(w, Value(5), CompareDirection::kLt);
    Instruction* result = b_.Multiply(b_.Select(is_near, near, far), x);
    if (shape_.type() == PrimitiveType::kF64) {
      for (int step = 0; step < 2; ++step) result = Newton(result, x);
    }
    Instruction* is_one =
        b_.Compare(b_.Abs(x), Value(1), CompareDirection::kEq);
    Instruction* infinity =
        b_.Multiply(x, Value(std::numeric_limits<double>::infinity()));
    return b_.Select(is_one, infinity, result);
  }

 private:
  // y - (erf(y) - x) / erf'(y).
  Instruction* Newton(Instruction* y, Instruction* x) {
    constexpr double kHalfSqrtPi = 0.88622692545275801365;
    Instruction* error = b_.Subtract(b_.Erf(y), x);
    Instruction* step = b_.Multiply(b_.Multiply(error, Value(kHalfSqrtPi)),
                                    b_.Exp(b_.Multiply(y, y)));
    return b_.Subtract(y, step);
  }

  Builder& b_;
  const Shape shape_;
};

}  // namespace

absl::StatusOr<Instruction*> EmitErfInv(Builder* b, Instruction* x) {
  const PrimitiveType type = x->shape().type();
  if (!IsFloat(type)) {
    return absl::InvalidArgumentError("it takes a floating point tensor");
  }
  // Narrow types are computed in f32.
  const bool narrow = BitWidth(type) < 32;
  Instruction* wide = narrow ? b->Convert(x, PrimitiveType::kF32) : x;
  Instruction* result = ErfInvEmitter(b, wide->shape()).ErfInv(wide);
  return narrow ? b->Convert(result, type) : result;
}

}  // namespace ptxla::hlo::mlir
