// Functions of f32 and 32-bit integers that hardware lacks, as HLO. All
// operands of a function have one shape, which is the result's.
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_RARE_FUNCTIONS_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_RARE_FUNCTIONS_H_

#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {

class RareFunctions {
 public:
  explicit RareFunctions(Builder* builder) : b_(*builder) {}

  // f32.
  Instruction* Atan2(Instruction* y, Instruction* x);
  Instruction* Asin(Instruction* x);
  Instruction* Acos(Instruction* x);
  Instruction* Tan(Instruction* x);
  Instruction* Sinh(Instruction* x);
  Instruction* Cosh(Instruction* x);
  Instruction* Asinh(Instruction* x);
  Instruction* Acosh(Instruction* x);
  Instruction* Atanh(Instruction* x);
  // Exact while the quotient has no more than 22 bits.
  Instruction* FloatRemainder(Instruction* x, Instruction* y);

  // 32-bit integers.
  // By squaring; a negative exponent gives 0 but for 1, -1 and 0.
  Instruction* IntegerPower(Instruction* x, Instruction* y);

 private:
  Instruction* F32(float value, const Instruction* like);
  Instruction* Int(int64_t value, const Instruction* like);
  Instruction* As(Instruction* x, PrimitiveType type);  // the same bits
  Instruction* WithSign(Instruction* magnitude, Instruction* sign);
  Instruction* Less(Instruction* x, Instruction* y) {
    return b_.Compare(x, y, CompareDirection::kLt);
  }

  Builder& b_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_RARE_FUNCTIONS_H_
