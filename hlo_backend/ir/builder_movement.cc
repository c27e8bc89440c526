// Builder: instructions that move and reshape data.
#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {
namespace {

DimVector Own(absl::Span<const int64_t> dims) {
  return DimVector(dims.begin(), dims.end());
}

}  // namespace

Instruction* Builder::Broadcast(Instruction* x, Dims result_dims,
                                Dims dimensions) {
  const Shape shape = Shape::Array(x->shape().type(), result_dims);
  return Emit(Opcode::kBroadcast, {x}, DimensionsAttrs{Own(dimensions)}, {},
              &shape);
}

Instruction* Builder::BroadcastScalar(Instruction* x, Dims result_dims) {
  return Broadcast(x, result_dims, {});
}

Instruction* Builder::Reshape(Instruction* x, Dims dims) {
  const Shape shape = Shape::Array(x->shape().type(), dims);
  return Emit(Opcode::kReshape, {x}, {}, {}, &shape);
}

Instruction* Builder::Bitcast(Instruction* x, const Shape& shape) {
  return Emit(Opcode::kBitcast, {x}, {}, {}, &shape);
}

Instruction* Builder::Transpose(Instruction* x, Dims permutation) {
  return Emit(Opcode::kTranspose, {x}, DimensionsAttrs{Own(permutation)});
}

Instruction* Builder::Reverse(Instruction* x, Dims dimensions) {
  return Emit(Opcode::kReverse, {x}, DimensionsAttrs{Own(dimensions)});
}

Instruction* Builder::Concatenate(Operands xs, int64_t dimension) {
  return Emit(Opcode::kConcatenate, xs, DimensionsAttrs{{dimension}});
}

Instruction* Builder::Slice(Instruction* x, Dims starts, Dims limits,
                            Dims strides) {
  SliceAttrs attrs{Own(starts), Own(limits), Own(strides)};
  if (strides.empty()) attrs.strides.assign(starts.size(), 1);
  return Emit(Opcode::kSlice, {x}, Boxed<SliceAttrs>(std::move(attrs)));
}

Instruction* Builder::DynamicSlice(Instruction* x, Operands starts,
                                   Dims sizes) {
  std::vector<Instruction*> operands = {x};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return Emit(Opcode::kDynamicSlice, operands, DynamicSliceAttrs{Own(sizes)});
}

Instruction* Builder::DynamicUpdateSlice(Instruction* x, Instruction* update,
                                         Operands starts) {
  std::vector<Instruction*> operands = {x, update};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return Emit(Opcode::kDynamicUpdateSlice, operands);
}

Instruction* Builder::Pad(Instruction* x, Instruction* value,
                          absl::Span<const PaddingDim> padding) {
  PadAttrs attrs;
  attrs.dims.assign(padding.begin(), padding.end());
  return Emit(Opcode::kPad, {x, value}, Boxed<PadAttrs>(std::move(attrs)));
}

Instruction* Builder::Gather(Instruction* x, Instruction* indices,
                             GatherAttrs attrs) {
  return Emit(Opcode::kGather, {x, indices},
              Boxed<GatherAttrs>(std::move(attrs)));
}

Instruction* Builder::Scatter(Operands operands, Instruction* indices,
                              Operands updates, Computation* combine,
                              ScatterAttrs attrs) {
  std::vector<Instruction*> all(operands.begin(), operands.end());
  all.push_back(indices);
  all.insert(all.end(), updates.begin(), updates.end());
  return Emit(Opcode::kScatter, all, Boxed<ScatterAttrs>(std::move(attrs)),
              {combine});
}

}  // namespace ptxla::hlo
