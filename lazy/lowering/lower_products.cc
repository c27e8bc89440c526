#include "lazy/lowering/lower_ops.h"

namespace ptxla::lazy {

using hlo::Instruction;
using hlo::Opcode;
using hlo::Shape;

LoweringOutput LowerMatmul(const LoweringInput& x) {
  return {x.e.Dot(x.in[0], x.in[1])};
}

LoweringOutput LowerAddmm(const LoweringInput& x) {
  Instruction* dot = x.e.Dot(x.in[0], x.in[1]);
  Instruction* bias = x.e.Expand(x.in[2], x.node.shape().dims());
  return {x.e.Binary(Opcode::kAdd, dot, bias)};
}

LoweringOutput LowerSum(const LoweringInput& x) {
  const auto& attrs = x.node.attrs<DimsAttrs>();
  Instruction* zero = x.e.Constant(0, x.node.shape().type());
  int64_t count = 1;
  for (int64_t d : attrs.dims) count *= x.in[0]->shape().dim(d);
  // torch_xla counts the elements for a mean; a sum leaves the count unused.
  x.e.ConstantInt(count, PrimitiveType::kS32);
  Instruction* sum = x.e.Reduce(Opcode::kAdd, x.in[0], zero, attrs.dims);
  if (!attrs.keepdim) return {sum};
  return {x.e.Reshape(sum, x.node.shape().dims())};
}

LoweringOutput LowerCrossReplicaSum(const LoweringInput& x) {
  HloEmitter& e = x.e;
  const auto& attrs = x.node.attrs<CollectiveAttrs>();
  const int n = static_cast<int>(x.in.size()) - 1;  // the last is the token
  Instruction* tuple = e.Tuple(x.in);
  hlo::Computation* combiner = e.Combiner(Opcode::kAdd, x.in[0]->shape().type(),
                                          "AddComputation", "x", "y");
  std::vector<Instruction*> operands;
  std::vector<Shape> shapes;
  for (int i = 0; i <= n; ++i) {
    operands.push_back(e.GetTupleElement(tuple, i));
    // A pinned layout is row-major on every replica.
    const Shape& shape = operands.back()->shape();
    shapes.push_back(Shape::ArrayRowMajor(shape.type(), shape.dims()));
  }
  hlo::CollectiveAttrs collective;
  collective.groups = hlo::ReplicaGroups(attrs.groups);
  collective.constrain_layout = attrs.pin_layout;
  Instruction* sum = e.Emit(
      Opcode::kAllReduce, Shape::Tuple(std::move(shapes)), operands,
      hlo::Boxed<hlo::CollectiveAttrs>(std::move(collective)), {combiner});
  LoweringOutput results;
  for (int i = 0; i < n; ++i) {
    Instruction* result = e.GetTupleElement(sum, i);
    if (attrs.scale != 1) {
      result = e.Binary(Opcode::kMultiply, result,
                        e.Constant(attrs.scale, result->shape().type()));
    }
    results.push_back(result);
  }
  results.push_back(e.GetTupleElement(sum, n));
  return results;
}

}  // namespace ptxla::lazy
