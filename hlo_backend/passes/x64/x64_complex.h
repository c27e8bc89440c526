// Arithmetic on complex numbers held as two f32 arrays, for chips that have no
// complex types: an X64Pair whose low part is the real one and whose high part
// the imaginary one (as a c64's bytes have them, and its planes in HBM).
//
//   X64Complex math(&builder);
//   X64Pair product = math.Multiply(x, y);
//
// Formulas are those of the evaluator (complex_functions.h), in f32.
#ifndef PTXLA_HLO_BACKEND_PASSES_X64_X64_COMPLEX_H_
#define PTXLA_HLO_BACKEND_PASSES_X64_X64_COMPLEX_H_

#include <functional>
#include <optional>

#include "hlo_backend/passes/x64/x64_pairs.h"

namespace ptxla::hlo {

class X64Complex {
 public:
  using Product =
      std::function<Instruction*(Instruction* lhs, Instruction* rhs)>;

  explicit X64Complex(Builder* builder) : b_(*builder) {}

  X64Pair FromReal(Instruction* re);  // any float or integer of up to 32 bits
  X64Pair Add(X64Pair x, X64Pair y);
  X64Pair Subtract(X64Pair x, X64Pair y);
  X64Pair Multiply(X64Pair x, X64Pair y);
  X64Pair Divide(X64Pair x, X64Pair y);
  X64Pair Negate(X64Pair x);
  Instruction* Abs(X64Pair x);  // f32
  Instruction* Equal(X64Pair x, X64Pair y, CompareDirection direction);
  X64Pair Constant(const Literal& literal);

  // A bilinear operation (dot, convolution) by three of reals, as the TPU
  // compiler has it (by C. F. Gauss): with k = (xr + xi) yr it is
  // {k - xi (yr + yi), k + xr (yi - yr)}. Two where a factor is real.
  X64Pair Bilinear(X64Pair x, X64Pair y, const Product& product);

  // Functions of one or two numbers. Nothing: none of this name.
  std::optional<X64Pair> Of(Opcode op, absl::Span<const X64Pair> xs);

 private:
  Instruction* F32(float value, const Instruction* like);
  Instruction* Half(Instruction* x) { return b_.Multiply(x, F32(0.5f, x)); }
  Instruction* Zero(const Instruction* like) { return F32(0, like); }
  Instruction* IsZero(Instruction* x) {
    return b_.Compare(x, Zero(x), CompareDirection::kEq);
  }
  X64Pair Select(Instruction* pred, X64Pair x, X64Pair y);
  // The hyperbolic sine and cosine of a real number, without cancellation.
  X64Pair SinhCosh(Instruction* x);
  X64Pair Exp(X64Pair x);
  X64Pair Expm1(X64Pair x);
  X64Pair Log(X64Pair x);
  X64Pair Sqrt(X64Pair x);
  X64Pair Rsqrt(X64Pair x);
  X64Pair Power(X64Pair x, X64Pair y);
  X64Pair Tanh(X64Pair x);

  Builder& b_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_X64_X64_COMPLEX_H_
