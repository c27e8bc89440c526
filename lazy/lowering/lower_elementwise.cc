#include "lazy/lowering/lower_ops.h"

namespace ptxla::lazy {

using hlo::CompareDirection;
using hlo::Instruction;
using hlo::Opcode;

LoweringOutput LowerConstant(const LoweringInput& x) {
  return {
      x.e.Constant(x.node.attrs<ConstantAttrs>().value, x.node.shape().type())};
}

LoweringOutput LowerCast(const LoweringInput& x) {
  return {x.e.Convert(x.in[0], x.node.shape().type())};
}

namespace {

// a op b * alpha, both operands promoted first.
Instruction* Scaled(const LoweringInput& x, Opcode op) {
  const PrimitiveType type = x.node.shape().type();
  Instruction* a = x.e.Convert(x.in[0], type);
  Instruction* b = x.e.Convert(x.in[1], type);
  if (x.in.size() > 2) b = x.e.PromotedBinary(Opcode::kMultiply, b, x.in[2]);
  return x.e.Binary(op, a, b);
}

}  // namespace

LoweringOutput LowerAdd(const LoweringInput& x) {
  return {Scaled(x, Opcode::kAdd)};
}

LoweringOutput LowerRsub(const LoweringInput& x) {
  Instruction* scaled = x.e.PromotedBinary(Opcode::kMultiply, x.in[0], x.in[2]);
  return {x.e.PromotedBinary(Opcode::kSubtract, x.in[1], scaled)};
}

LoweringOutput LowerMul(const LoweringInput& x) {
  return {x.e.PromotedBinary(Opcode::kMultiply, x.in[0], x.in[1])};
}

LoweringOutput LowerDiv(const LoweringInput& x) {
  return {x.e.PromotedBinary(Opcode::kDivide, x.in[0], x.in[1])};
}

LoweringOutput LowerPow(const LoweringInput& x) {
  return {x.e.PromotedBinary(Opcode::kPower, x.in[0], x.in[1])};
}

LoweringOutput LowerNe(const LoweringInput& x) {
  return {x.e.Compare(CompareDirection::kNe, x.in[0], x.in[1])};
}

LoweringOutput LowerLt(const LoweringInput& x) {
  return {x.e.Compare(CompareDirection::kLt, x.in[0], x.in[1])};
}

LoweringOutput LowerWhere(const LoweringInput& x) {
  return {x.e.Select(x.in[0], x.in[1], x.in[2])};
}

LoweringOutput LowerSqrt(const LoweringInput& x) {
  return {x.e.Unary(Opcode::kSqrt, x.in[0])};
}

LoweringOutput LowerTanh(const LoweringInput& x) {
  return {x.e.Unary(Opcode::kTanh, x.in[0])};
}

namespace {

// in0 + (in1 op in2) * value; the value (s64 or f64) takes in1's type.
Instruction* AddScaledPair(const LoweringInput& x, Opcode op) {
  Instruction* value = x.e.Convert(x.in[3], x.in[1]->shape().type());
  Instruction* pair = x.e.PromotedBinary(op, x.in[1], x.in[2]);
  pair = x.e.PromotedBinary(Opcode::kMultiply, pair, value);
  return x.e.PromotedBinary(Opcode::kAdd, x.in[0], pair);
}

}  // namespace

LoweringOutput LowerAddcmul(const LoweringInput& x) {
  return {AddScaledPair(x, Opcode::kMultiply)};
}

LoweringOutput LowerAddcdiv(const LoweringInput& x) {
  return {AddScaledPair(x, Opcode::kDivide)};
}

LoweringOutput LowerLerp(const LoweringInput& x) {
  Instruction* way = x.e.PromotedBinary(Opcode::kSubtract, x.in[1], x.in[0]);
  Instruction* part = x.e.PromotedBinary(Opcode::kMultiply, x.in[2], way);
  return {x.e.PromotedBinary(Opcode::kAdd, x.in[0], part)};
}

}  // namespace ptxla::lazy
