// Arithmetic on 64-bit values held as two 32-bit words, for chips that have no
// 64-bit types.
//
// s64 and u64 are (low, high) words of type u32. f64 is the sum of two f32:
// `high` is the value rounded to f32, `low` what is left (about 48 bits). c64
// is (real, imaginary), see x64_complex.h.
#ifndef PTXLA_HLO_BACKEND_PASSES_X64_X64_PAIRS_H_
#define PTXLA_HLO_BACKEND_PASSES_X64_X64_PAIRS_H_

#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {

bool IsX64(PrimitiveType type);  // s64, u64, f64, c64
bool IsX64(const Shape& shape);  // an array of one of them
// u32 for s64 and u64, f32 for f64 and c64.
PrimitiveType X64HalfType(PrimitiveType type);

struct X64Pair {
  Instruction* low = nullptr;
  Instruction* high = nullptr;
};

// Makes the instructions. All values have the same dimensions.
class X64Math {
 public:
  explicit X64Math(Builder* builder) : b_(*builder) {}

  // Integers.
  X64Pair Add(X64Pair x, X64Pair y);
  X64Pair Subtract(X64Pair x, X64Pair y);
  X64Pair Multiply(X64Pair x, X64Pair y);
  X64Pair Negate(X64Pair x);
  X64Pair Abs(X64Pair x);
  X64Pair Bitwise(Opcode op, X64Pair x, X64Pair y);  // and, or, xor
  X64Pair Not(X64Pair x);
  // By 64 and more gives zeros (or the sign).
  X64Pair Shift(Opcode op, X64Pair x, X64Pair y);
  Instruction* Compare(X64Pair x, X64Pair y, CompareDirection direction,
                       bool is_signed);
  X64Pair Select(Instruction* pred, X64Pair x, X64Pair y);

  // Between integers and other types. To f32 rounds at most twice.
  X64Pair FromNarrow(Instruction* x);  // any type up to 32 bits, floats too
  // The nearest integer there is towards zero: beyond them the last one.
  X64Pair FromFloat(Instruction* x, bool is_signed);
  Instruction* ToNarrow(X64Pair x, PrimitiveType to, bool is_signed);

  // f64.
  X64Pair FloatAdd(X64Pair x, X64Pair y);
  X64Pair FloatMultiply(X64Pair x, X64Pair y);
  X64Pair FloatNegate(X64Pair x);
  Instruction* FloatCompare(X64Pair x, X64Pair y, CompareDirection direction,
                            CompareType type = CompareType::kDefault);

  // Of an elided literal the high words are taken to be zero.
  X64Pair Constant(const Literal& literal);

 private:
  Instruction* U32(uint32_t value, const Instruction* like);
  Instruction* F32(float value, const Instruction* like);
  Instruction* AsSigned(Instruction* x);
  Instruction* AsUnsigned(Instruction* x);
  Instruction* MultiplyHigh(Instruction* x, Instruction* y);
  X64Pair Whole(Instruction* x);
  Instruction* ToFloat(X64Pair x, bool is_signed);
  X64Pair TwoSum(Instruction* x, Instruction* y);
  X64Pair IfFinite(X64Pair x, Instruction* otherwise);

  Builder& b_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_X64_X64_PAIRS_H_
