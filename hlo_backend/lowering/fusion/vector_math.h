// HLO's elementwise operations as vector instructions on 32-bit lanes: the
// sequences that the TPU compiler makes, by chip (tpu_slots.md section 4).
//
// Floats of every width are computed as f32, without rounding in between (as
// XLA does inside TPU fusions); integers of every width as 32-bit words that
// hold the value extended by its sign; pred values are vector masks.
//
// Transcendental functions follow base/numerics/recipes.h. Chips up to v5p
// refine the reciprocals of the EUP and have no EUP erf:
// Supports(model, kVerfF32) tells them apart.
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_VECTOR_MATH_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_VECTOR_MATH_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/codegen/builder.h"

namespace ptxla::lowering {

struct Value {
  codegen::Vec vec;
  codegen::Mask mask;  // valid for pred values
  bool is_mask() const { return mask.valid(); }
  static Value Of(codegen::Vec v) { return {v, {}}; }
  static Value Of(codegen::Mask m) { return {{}, m}; }
};

// One elementwise instruction. Unimplemented names it. `wraps`: narrow integers
// are wanted extended by their sign; else their low bits alone count, as where
// they are packed and stored.
absl::StatusOr<Value> EmitElementwise(codegen::CodeBuilder& b,
                                      const hlo::Instruction& i,
                                      absl::Span<const Value> inputs,
                                      bool wraps = true);

// Of x and a constant, which needs no register, 1 / x, or x to a constant power
// (Expression::ImmediateInput).
Value EmitWithImmediate(codegen::CodeBuilder& b, const hlo::Instruction& i,
                        Value x, uint32_t constant);

// The same for exp and negate whose input's sign changes on the way
// (ExprNode::folds_sign): exp(-x), -|x|.
Value EmitWithSign(codegen::CodeBuilder& b, const hlo::Instruction& i, Value x);

// A convert to integers of what is rounded to nearest even before it
// (ExprNode::rounds).
Value EmitRoundingConvert(codegen::CodeBuilder& b, const hlo::Instruction& i,
                          Value x);

// x op y for the operation of a reduce or scatter: add, multiply, maximum,
// minimum, and, or, xor.
absl::StatusOr<Value> EmitMonoid(codegen::CodeBuilder& b, hlo::Opcode op,
                                 hlo::PrimitiveType type, Value x, Value y);
// Register image of the value that leaves others alone under `op`.
uint32_t MonoidIdentity(hlo::Opcode op, hlo::PrimitiveType type);

// A signed integer whose order is the total order of f32.
codegen::Vec EmitTotalOrderKey(codegen::CodeBuilder& b, codegen::Vec x);

// 1.0 or 0.0, or 1 or 0, by a mask.
codegen::Vec MaskToNumber(codegen::CodeBuilder& b, codegen::Mask m, bool f32);

// Pieces, for those who compose their own formulas (f32).
#define PTXLA_VECTOR_FUNCTION(name) \
  codegen::Vec name(codegen::CodeBuilder& b, codegen::Vec x);
PTXLA_VECTOR_FUNCTION(EmitReciprocal)
PTXLA_VECTOR_FUNCTION(EmitRsqrt)
PTXLA_VECTOR_FUNCTION(EmitSqrt)
PTXLA_VECTOR_FUNCTION(EmitExp)
PTXLA_VECTOR_FUNCTION(EmitExpOfNegated)
PTXLA_VECTOR_FUNCTION(EmitExpm1)
PTXLA_VECTOR_FUNCTION(EmitLog)
PTXLA_VECTOR_FUNCTION(EmitLog1p)
PTXLA_VECTOR_FUNCTION(EmitErf)
PTXLA_VECTOR_FUNCTION(EmitLogistic)
PTXLA_VECTOR_FUNCTION(EmitSine)
PTXLA_VECTOR_FUNCTION(EmitCosine)
PTXLA_VECTOR_FUNCTION(EmitCbrt)
PTXLA_VECTOR_FUNCTION(EmitFloor)
PTXLA_VECTOR_FUNCTION(EmitCeil)
PTXLA_VECTOR_FUNCTION(EmitRoundNearestEven)
PTXLA_VECTOR_FUNCTION(EmitRoundNearestAfz)
#undef PTXLA_VECTOR_FUNCTION
// What a division of this type multiplies by: 1 / y, of bf16 as the EUP has it.
codegen::Vec EmitDivisor(codegen::CodeBuilder& b, hlo::PrimitiveType type,
                         codegen::Vec y);
codegen::Vec EmitPower(codegen::CodeBuilder& b, codegen::Vec x, codegen::Vec y);
// y: finite, neither 0 nor 1.
codegen::Vec EmitPower(codegen::CodeBuilder& b, codegen::Vec x, float y);
// Rounds to fewer bits, as numerics::ReducePrecision does.
codegen::Vec EmitReducePrecision(codegen::CodeBuilder& b, codegen::Vec x,
                                 int exponent_bits, int mantissa_bits);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_VECTOR_MATH_H_
