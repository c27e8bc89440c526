// More arithmetic on pairs of words (x64_pairs.h): division, bits, powers, and
// functions of f64. Those beyond + - * /, remainder, rounding and square root
// are computed to the accuracy of f32, as the pair's high part.
#ifndef PTXLA_HLO_BACKEND_PASSES_X64_X64_FUNCTIONS_H_
#define PTXLA_HLO_BACKEND_PASSES_X64_X64_FUNCTIONS_H_

#include <optional>

#include "hlo_backend/passes/x64/x64_pairs.h"

namespace ptxla::hlo {

class X64Functions {
 public:
  explicit X64Functions(Builder* builder) : b_(*builder), math_(builder) {}

  // Integers.
  X64Pair Divide(X64Pair x, X64Pair y, bool is_signed, bool remainder);
  X64Pair Clz(X64Pair x);
  X64Pair PopulationCount(X64Pair x);
  X64Pair Sign(X64Pair x);
  X64Pair Power(X64Pair x, X64Pair y, bool is_signed);

  // f64.
  X64Pair FloatDivide(X64Pair x, X64Pair y);
  X64Pair FloatAbs(X64Pair x);
  X64Pair FloatSelect(X64Pair x, X64Pair y, CompareDirection wins);
  X64Pair FloatSqrt(X64Pair x);
  X64Pair FloatFloor(X64Pair x);
  X64Pair FloatTruncate(X64Pair x);
  X64Pair FloatRoundEven(X64Pair x);
  X64Pair FloatRoundAway(X64Pair x);  // halves away from zero
  // Right as long as the quotient has less than 2^45.
  X64Pair FloatRemainder(X64Pair x, X64Pair y);
  // Nothing: no function of one or two f32 of this name.
  std::optional<X64Pair> OfHighParts(Opcode op, absl::Span<const X64Pair> xs);

  // Between types.
  X64Pair ToF64(Instruction* x);  // 8 to 32 bits
  X64Pair IntegerToF64(X64Pair x, bool is_signed);
  // Towards zero, to the nearest integer that there is; NaN becomes 0.
  X64Pair F64ToInteger(X64Pair x, bool is_signed);
  Instruction* F64ToNarrow(X64Pair x, PrimitiveType to);

 private:
  Instruction* U32(uint32_t value, const Instruction* like);
  Instruction* F32(float value, const Instruction* like);
  X64Pair Small(uint32_t value, const Instruction* like) {
    return {U32(value, like), U32(0, like)};
  }
  X64Pair Clamped(X64Pair x, float least, float beyond);
  X64Pair DivideUnsigned(X64Pair x, X64Pair y, bool remainder);
  Instruction* IsZero(X64Pair x);
  Instruction* IsNegative(X64Pair x);

  Builder& b_;
  X64Math math_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_X64_X64_FUNCTIONS_H_
