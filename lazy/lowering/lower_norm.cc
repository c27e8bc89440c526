// Batch normalisation and means, as torch_xla 2.9 lowers them.
#include <limits>

#include "lazy/lowering/lower_ops.h"

namespace ptxla::lazy {

using hlo::Instruction;
using hlo::Opcode;
using hlo::Shape;

namespace {

hlo::BatchNormAttrs HloAttrs(const LoweringInput& x) {
  const auto& attrs = x.node.attrs<BatchNormAttrs>();
  return {static_cast<float>(attrs.epsilon), attrs.feature};
}

}  // namespace

// Narrow images with f32 weights are normalised in f32.
LoweringOutput LowerBatchNorm(const LoweringInput& x) {
  HloEmitter& e = x.e;
  const auto& attrs = x.node.attrs<BatchNormAttrs>();
  const PrimitiveType image = x.in[0]->shape().type();
  const PrimitiveType type = x.in[1]->shape().type();
  Instruction* input = e.Convert(x.in[0], type);
  const Shape per_feature = Shape::ArrayRowMajor(
      type, {input->shape().dim(static_cast<int>(attrs.feature))});
  Instruction *out, *mean = x.in[3], *variance = x.in[4];
  if (attrs.training) {
    Instruction* norm =
        e.Emit(Opcode::kBatchNormTraining,
               Shape::Tuple({input->shape(), per_feature, per_feature}),
               {input, x.in[1], x.in[2]}, HloAttrs(x));
    out = e.GetTupleElement(norm, 0);
    mean = e.GetTupleElement(norm, 1);
    variance = e.GetTupleElement(norm, 2);
  } else {
    out = e.Emit(Opcode::kBatchNormInference, input->shape(),
                 {input, x.in[1], x.in[2], mean, variance}, HloAttrs(x));
  }
  out = e.Convert(out, image);
  Instruction* shifted =
      e.Binary(Opcode::kAdd, variance, e.Constant(attrs.epsilon, type));
  return {out, mean, variance, e.Unary(Opcode::kRsqrt, shifted)};
}

LoweringOutput LowerBatchNormBackward(const LoweringInput& x) {
  HloEmitter& e = x.e;
  const auto& attrs = x.node.attrs<BatchNormAttrs>();
  const PrimitiveType image = x.in[1]->shape().type();
  const PrimitiveType type = x.in[2]->shape().type();
  Instruction* grad_out = e.Convert(x.in[0], type);
  Instruction* input = e.Convert(x.in[1], type);
  // What was saved is 1/sqrt(variance + epsilon): back to the variance.
  Instruction* eps = e.Constant(attrs.epsilon, type);
  Instruction* one = e.Constant(1, type);
  Instruction* std_dev = e.Binary(Opcode::kDivide, one, x.in[4]);
  Instruction* square = e.Binary(Opcode::kMultiply, std_dev, std_dev);
  Instruction* variance = e.Binary(Opcode::kSubtract, square, eps);
  const Shape per_feature = Shape::ArrayRowMajor(
      type, {input->shape().dim(static_cast<int>(attrs.feature))});
  Instruction* grad =
      e.Emit(Opcode::kBatchNormGrad,
             Shape::Tuple({input->shape(), per_feature, per_feature}),
             {input, x.in[2], x.in[3], variance, grad_out}, HloAttrs(x));
  Instruction* of_input = e.Convert(e.GetTupleElement(grad, 0), image);
  Instruction* of_weight = e.GetTupleElement(grad, 1);
  return {of_input, of_weight, e.GetTupleElement(grad, 2)};
}

// torch_xla guards the division by the number of elements, a constant.
LoweringOutput LowerMean(const LoweringInput& x) {
  HloEmitter& e = x.e;
  const auto& attrs = x.node.attrs<DimsAttrs>();
  const PrimitiveType type = x.node.shape().type();
  int64_t elements = 1;
  for (int64_t d : attrs.dims) {
    elements *= x.in[0]->shape().dim(static_cast<int>(d));
  }
  Instruction* sum =
      e.Reduce(Opcode::kAdd, x.in[0], e.Constant(0, type), attrs.dims);
  Instruction* count = e.ConstantInt(elements, PrimitiveType::kS32);
  Instruction* any = e.Compare(hlo::CompareDirection::kNe, count,
                               e.ConstantInt(0, PrimitiveType::kS32));
  Instruction* share =
      e.Binary(Opcode::kDivide, e.Constant(1, type), e.Convert(count, type));
  Instruction* nan = e.Constant(std::numeric_limits<double>::quiet_NaN(), type);
  Instruction* mean =
      e.Binary(Opcode::kMultiply, sum, e.Select(any, share, nan));
  if (!attrs.keepdim) return {mean};
  return {e.Reshape(mean, x.node.shape().dims())};
}

LoweringOutput LowerMovingAverage(const LoweringInput& x) {
  HloEmitter& e = x.e;
  const PrimitiveType type = x.node.shape().type();
  Instruction* share = e.Constant(x.node.attrs<ConstantAttrs>().value, type);
  Instruction* rest = e.Binary(Opcode::kSubtract, e.Constant(1, type), share);
  Instruction* kept = e.Binary(Opcode::kMultiply, x.in[1], rest);
  Instruction* fresh = e.Binary(Opcode::kMultiply, x.in[0], share);
  return {e.Binary(Opcode::kAdd, fresh, kept)};
}

}  // namespace ptxla::lazy
