#include <limits>

#include "lazy/lowering/lower_ops.h"

namespace ptxla::lazy {

using hlo::CompareDirection;
using hlo::Instruction;
using hlo::Opcode;

namespace {

constexpr double kInverseSqrt2 = 0.70710678118654752440;
constexpr double kTwoOverSqrtPi = 1.12837916709551257390;

// Every dimension but `dim`: where the reduced array goes back.
DimVector Others(int rank, int64_t dim) {
  DimVector others;
  for (int i = 0; i < rank; ++i) {
    if (i != dim) others.push_back(i);
  }
  return others;
}

// Reduces x along the node's dimension and broadcasts the result back.
Instruction* ReduceAlong(const LoweringInput& x, Opcode op, Instruction* array,
                         Instruction* init) {
  return x.e.Reduce(op, array, init, x.node.attrs<DimsAttrs>().dims);
}
Instruction* SpreadAlong(const LoweringInput& x, Instruction* reduced) {
  const DimVector& dims = x.node.shape().dims();
  const DimVector others =
      Others(static_cast<int>(dims.size()), x.node.attrs<DimsAttrs>().dims[0]);
  return x.e.Broadcast(reduced, dims, others);
}

}  // namespace

LoweringOutput LowerRelu(const LoweringInput& x) {
  Instruction* zero = x.e.Constant(0, x.node.shape().type());
  zero = x.e.BroadcastScalar(zero, x.node.shape().dims());
  return {x.e.Binary(Opcode::kMaximum, x.in[0], zero)};
}

LoweringOutput LowerThresholdBackward(const LoweringInput& x) {
  const TensorShape& shape = x.node.shape();
  Instruction* threshold = x.e.Constant(0, shape.type());
  Instruction* zero = x.e.Constant(0, shape.type());
  zero = x.e.BroadcastScalar(zero, shape.dims());
  Instruction* above = x.e.Compare(CompareDirection::kGt, x.in[1], threshold);
  return {x.e.Select(above, x.in[0], zero)};
}

LoweringOutput LowerGelu(const LoweringInput& x) {
  const PrimitiveType type = x.node.shape().type();
  Instruction* half = x.e.Constant(0.5, type);
  Instruction* one = x.e.Constant(1, type);
  Instruction* scale = x.e.Constant(kInverseSqrt2, type);
  Instruction* erf =
      x.e.Unary(Opcode::kErf, x.e.Binary(Opcode::kMultiply, x.in[0], scale));
  Instruction* sum = x.e.Binary(Opcode::kAdd, erf, one);
  Instruction* halved = x.e.Binary(Opcode::kMultiply, x.in[0], half);
  return {x.e.Binary(Opcode::kMultiply, halved, sum)};
}

LoweringOutput LowerGeluBackward(const LoweringInput& x) {
  HloEmitter& e = x.e;
  const Opcode mul = Opcode::kMultiply;
  Instruction* input = x.in[1];
  const PrimitiveType type = input->shape().type();
  Instruction* half = e.Constant(0.5, type);
  Instruction* one = e.Constant(1, type);
  Instruction* two_over_sqrt_pi = e.Constant(kTwoOverSqrtPi, type);
  Instruction* scale = e.Constant(kInverseSqrt2, type);
  Instruction* kappa =
      e.Binary(mul, e.Binary(mul, two_over_sqrt_pi, scale), half);
  Instruction* erf = e.Unary(Opcode::kErf, e.Binary(mul, input, scale));
  Instruction* minus_half = e.Unary(Opcode::kNegate, half);
  Instruction* square = e.Binary(mul, input, input);
  Instruction* density =
      e.Unary(Opcode::kExp, e.Binary(mul, square, minus_half));
  Instruction* slope = e.Binary(mul, e.Binary(mul, input, density), kappa);
  Instruction* cdf = e.Binary(mul, half, e.Binary(Opcode::kAdd, one, erf));
  return {e.Binary(mul, x.in[0], e.Binary(Opcode::kAdd, cdf, slope))};
}

namespace {

// x minus its maximum along the dimension.
Instruction* MinusMaximum(const LoweringInput& x) {
  Instruction* low = x.e.Constant(-std::numeric_limits<double>::infinity(),
                                  x.node.shape().type());
  Instruction* max = ReduceAlong(x, Opcode::kMaximum, x.in[0], low);
  return x.e.Binary(Opcode::kSubtract, x.in[0], SpreadAlong(x, max));
}

Instruction* SumAlong(const LoweringInput& x, Instruction* array) {
  Instruction* zero = x.e.Constant(0, x.node.shape().type());
  return ReduceAlong(x, Opcode::kAdd, array, zero);
}

}  // namespace

LoweringOutput LowerSoftmax(const LoweringInput& x) {
  Instruction* exp = x.e.Unary(Opcode::kExp, MinusMaximum(x));
  return {x.e.Binary(Opcode::kDivide, exp, SpreadAlong(x, SumAlong(x, exp)))};
}

LoweringOutput LowerSoftmaxBackward(const LoweringInput& x) {
  Instruction* product = x.e.Binary(Opcode::kMultiply, x.in[0], x.in[1]);
  Instruction* sum = SpreadAlong(x, SumAlong(x, product));
  return {x.e.Binary(Opcode::kMultiply, x.in[1],
                     x.e.Binary(Opcode::kSubtract, x.in[0], sum))};
}

LoweringOutput LowerLogSoftmax(const LoweringInput& x) {
  Instruction* shifted = MinusMaximum(x);
  Instruction* sum = SumAlong(x, x.e.Unary(Opcode::kExp, shifted));
  return {x.e.Binary(Opcode::kSubtract, shifted,
                     SpreadAlong(x, x.e.Unary(Opcode::kLog, sum)))};
}

LoweringOutput LowerLogSoftmaxBackward(const LoweringInput& x) {
  Instruction* sum = SumAlong(x, x.in[0]);
  Instruction* exp = x.e.Unary(Opcode::kExp, x.in[1]);
  Instruction* part = x.e.Binary(Opcode::kMultiply, exp, SpreadAlong(x, sum));
  return {x.e.Binary(Opcode::kSubtract, x.in[0], part)};
}

}  // namespace ptxla::lazy
