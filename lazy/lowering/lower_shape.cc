#include "lazy/lowering/lower_ops.h"

namespace ptxla::lazy {

using hlo::Instruction;
using hlo::Opcode;

LoweringOutput LowerView(const LoweringInput& x) {
  const DimVector& dims = x.node.shape().dims();
  if (x.in[0]->shape().dims() == dims) return {x.in[0]};
  return {x.e.Reshape(x.in[0], dims)};
}

LoweringOutput LowerPermute(const LoweringInput& x) {
  return {x.e.Transpose(x.in[0], x.node.attrs<DimsAttrs>().dims)};
}

LoweringOutput LowerExpand(const LoweringInput& x) {
  return {x.e.Expand(x.in[0], x.node.attrs<DimsAttrs>().dims)};
}

LoweringOutput LowerSlice(const LoweringInput& x) {
  const auto& slice = x.node.attrs<SliceAttrs>();
  return {x.e.Slice(x.in[0], slice.starts, slice.limits)};
}

LoweringOutput LowerUpdateSlice(const LoweringInput& x) {
  std::vector<Instruction*> operands = {x.in[0], x.in[1]};
  for (int64_t start : x.node.attrs<SliceAttrs>().starts) {
    operands.push_back(x.e.ConstantInt(start, PrimitiveType::kS64));
  }
  return {x.e.Emit(Opcode::kDynamicUpdateSlice, x.in[0]->shape(), operands)};
}

// The update, padded to the array, where a padded mask says so.
LoweringOutput LowerUnselect(const LoweringInput& x) {
  HloEmitter& e = x.e;
  const auto& slice = x.node.attrs<SliceAttrs>();
  const TensorShape& shape = x.node.shape();
  hlo::PadAttrs padding;
  for (int i = 0; i < shape.rank(); ++i) {
    padding.dims.push_back(
        {slice.starts[i], shape.dim(i) - slice.limits[i], 0});
  }
  const hlo::Boxed<hlo::PadAttrs> attrs(std::move(padding));
  Instruction* inside = e.BroadcastScalar(
      e.ConstantInt(1, PrimitiveType::kPred), x.in[1]->shape().dims());
  Instruction* outside = e.ConstantInt(0, PrimitiveType::kPred);
  Instruction* zero = e.Constant(0, shape.type());
  Instruction* update =
      e.Emit(Opcode::kPad, shape.RowMajor().ToHlo(), {x.in[1], zero}, attrs);
  Instruction* mask =
      e.Emit(Opcode::kPad,
             hlo::Shape::ArrayRowMajor(PrimitiveType::kPred, shape.dims()),
             {inside, outside}, attrs);
  return {e.Select(mask, update, x.in[0])};
}

LoweringOutput LowerStack(const LoweringInput& x) {
  Instruction* part = x.e.Reshape(x.in[0], x.node.shape().dims());
  return {x.e.Concatenate({part}, x.node.attrs<DimsAttrs>().dims[0])};
}

LoweringOutput LowerIndexSelect(const LoweringInput& x) {
  Instruction* indices = x.e.Convert(x.in[1], PrimitiveType::kU32);
  const TensorShape& shape = x.node.shape();
  hlo::GatherAttrs attrs;
  for (int i = 1; i < shape.rank(); ++i) attrs.offset_dims.push_back(i);
  attrs.collapsed_slice_dims = {0};
  attrs.start_index_map = {0};
  attrs.index_vector_dim = 1;
  attrs.slice_sizes = shape.dims();
  attrs.slice_sizes[0] = 1;
  return {x.e.Emit(Opcode::kGather, shape.RowMajor().ToHlo(),
                   {x.in[0], indices},
                   hlo::Boxed<hlo::GatherAttrs>(std::move(attrs)))};
}

LoweringOutput LowerIndexPut(const LoweringInput& x) {
  Instruction* values = x.e.Expand(x.in[2], x.in[2]->shape().dims());
  hlo::Computation* combiner = x.e.Combiner(Opcode::kAdd, x.node.shape().type(),
                                            "ScatterCombiner", "p0", "p1");
  hlo::ScatterAttrs attrs;
  for (int i = 1; i < x.node.shape().rank(); ++i) {
    attrs.update_window_dims.push_back(i);
  }
  attrs.inserted_window_dims = {0};
  attrs.scatter_dims_to_operand_dims = {0};
  attrs.index_vector_dim = 1;
  return {
      x.e.Emit(Opcode::kScatter, x.in[0]->shape(), {x.in[0], x.in[1], values},
               hlo::Boxed<hlo::ScatterAttrs>(std::move(attrs)), {combiner})};
}

}  // namespace ptxla::lazy
