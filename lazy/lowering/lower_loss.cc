// Negative log likelihood as torch_xla makes it: labels become one-hot rows, so
// that forward and backward are full [rows, classes] arrays.
#include "lazy/lowering/lower_ops.h"

namespace ptxla::lazy {

using hlo::CompareDirection;
using hlo::Instruction;
using hlo::Opcode;

namespace {

struct OneHot {
  Instruction* zero;
  Instruction* one;
  Instruction* array;
};

OneHot MakeOneHot(HloEmitter& e, Instruction* labels, const TensorShape& to) {
  OneHot result;
  result.zero = e.Constant(0, to.type());
  result.one = e.Constant(1, to.type());
  const int64_t classes = to.dim(1);
  const PrimitiveType type = labels->shape().type();
  Instruction* iota = e.Iota(type, {1, classes}, 1);
  Instruction* rows = e.Broadcast(labels, to.dims(), {0});
  Instruction* columns =
      e.Broadcast(e.Reshape(iota, {classes}), to.dims(), {1});
  Instruction* hit = e.Compare(CompareDirection::kEq, rows, columns);
  Instruction* zeros = e.BroadcastScalar(result.zero, to.dims());
  Instruction* ones = e.BroadcastScalar(result.one, to.dims());
  result.array = e.Select(hit, ones, zeros);
  return result;
}

// The one-hot rows, 0 where the label is to be ignored.
Instruction* Weights(HloEmitter& e, Instruction* labels, Instruction* one_hot,
                     const TensorShape& to, int64_t ignore_index) {
  Instruction* ignored = e.ConstantInt(ignore_index, labels->shape().type());
  Instruction* counts = e.Compare(CompareDirection::kNe, labels, ignored);
  Instruction* ones = e.BroadcastScalar(e.Constant(1, to.type()), to.dims());
  Instruction* zeros = e.BroadcastScalar(e.Constant(0, to.type()), to.dims());
  counts = e.Broadcast(counts, to.dims(), {0});
  return e.Binary(Opcode::kMultiply, e.Select(counts, ones, zeros), one_hot);
}

}  // namespace

LoweringOutput LowerNllLoss(const LoweringInput& x) {
  HloEmitter& e = x.e;
  const int64_t ignore_index = x.node.attrs<NllLossAttrs>().ignore_index;
  Instruction* log_p = x.in[0];
  Instruction* labels = x.in[1];
  const TensorShape shape(log_p->shape().type(), log_p->shape().dims());
  const OneHot one_hot = MakeOneHot(e, labels, shape);
  Instruction* loss = e.Binary(Opcode::kMultiply,
                               e.Unary(Opcode::kNegate, one_hot.array), log_p);
  // 0 instead of 0 * -inf.
  Instruction* ones = e.BroadcastScalar(one_hot.one, shape.dims());
  Instruction* miss = e.Compare(CompareDirection::kNe, one_hot.array, ones);
  loss = e.Select(miss, e.BroadcastScalar(one_hot.zero, shape.dims()), loss);
  Instruction* weights = Weights(e, labels, one_hot.array, shape, ignore_index);
  Instruction* count =
      e.Reduce(Opcode::kAdd, weights, e.Constant(0, shape.type()), {0, 1});
  Instruction* sum =
      e.Reduce(Opcode::kAdd, e.Binary(Opcode::kMultiply, loss, weights),
               one_hot.zero, {0, 1});
  return {e.Binary(Opcode::kDivide, sum, count)};
}

LoweringOutput LowerNllLossBackward(const LoweringInput& x) {
  HloEmitter& e = x.e;
  const int64_t ignore_index = x.node.attrs<NllLossAttrs>().ignore_index;
  Instruction* labels = x.in[2];
  const TensorShape shape(x.in[1]->shape().type(), x.in[1]->shape().dims());
  const OneHot one_hot = MakeOneHot(e, labels, shape);
  Instruction* negative = e.Unary(Opcode::kNegate, one_hot.array);
  Instruction* grad = e.Binary(Opcode::kMultiply, negative, x.in[0]);
  Instruction* weights = Weights(e, labels, one_hot.array, shape, ignore_index);
  Instruction* zero = e.Constant(0, shape.type());
  Instruction* count = e.Reduce(Opcode::kAdd, weights, zero, {0, 1});
  Instruction* one = e.Constant(1, shape.type());
  Instruction* any = e.Compare(CompareDirection::kNe, count, zero);
  Instruction* divisor = e.Select(any, count, one);
  return {e.Binary(Opcode::kDivide, e.Binary(Opcode::kMultiply, grad, weights),
                   divisor)};
}

}  // namespace ptxla::lazy
