// Builder: products, reductions, sorts, batch normalisation.
#include "base/check.h"
#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {

Instruction* Builder::Dot(Instruction* lhs, Instruction* rhs, DotAttrs attrs) {
  return Emit(Opcode::kDot, {lhs, rhs}, Boxed<DotAttrs>(std::move(attrs)));
}

Instruction* Builder::MatMul(Instruction* lhs, Instruction* rhs) {
  const int rank = lhs->shape().rank();
  CHECK(rank >= 2 && rhs->shape().rank() == rank);
  DotAttrs attrs;
  for (int i = 0; i < rank - 2; ++i) {
    attrs.lhs_batch.push_back(i);
    attrs.rhs_batch.push_back(i);
  }
  attrs.lhs_contracting = {rank - 1};
  attrs.rhs_contracting = {rank - 2};
  return Dot(lhs, rhs, std::move(attrs));
}

Instruction* Builder::Convolution(Instruction* input, Instruction* kernel,
                                  ConvAttrs attrs) {
  return Emit(Opcode::kConvolution, {input, kernel},
              Boxed<ConvAttrs>(std::move(attrs)));
}

Instruction* Builder::Reduce(Instruction* x, Instruction* init, Dims dimensions,
                             Computation* combine) {
  return ReduceMany({x}, {init}, dimensions, combine);
}

Instruction* Builder::ReduceMany(Operands xs, Operands inits, Dims dimensions,
                                 Computation* combine) {
  std::vector<Instruction*> operands(xs.begin(), xs.end());
  operands.insert(operands.end(), inits.begin(), inits.end());
  DimensionsAttrs attrs;
  attrs.dimensions.assign(dimensions.begin(), dimensions.end());
  return Emit(Opcode::kReduce, operands, std::move(attrs), {combine});
}

Instruction* Builder::ReduceWindow(Operands xs, Operands inits, Window window,
                                   Computation* combine) {
  std::vector<Instruction*> operands(xs.begin(), xs.end());
  operands.insert(operands.end(), inits.begin(), inits.end());
  return Emit(Opcode::kReduceWindow, operands,
              Boxed<WindowAttrs>(WindowAttrs{std::move(window)}), {combine});
}

Instruction* Builder::SelectAndScatter(Instruction* x, Instruction* source,
                                       Instruction* init, Window window,
                                       Computation* select,
                                       Computation* scatter) {
  return Emit(Opcode::kSelectAndScatter, {x, source, init},
              Boxed<WindowAttrs>(WindowAttrs{std::move(window)}),
              {select, scatter});
}

Instruction* Builder::Sort(Operands xs, int64_t dimension, bool is_stable,
                           Computation* compare) {
  return Emit(Opcode::kSort, xs, SortAttrs{dimension, is_stable}, {compare});
}

Instruction* Builder::BatchNormTraining(Instruction* x, Instruction* scale,
                                        Instruction* offset, float epsilon,
                                        int64_t feature_index) {
  return Emit(Opcode::kBatchNormTraining, {x, scale, offset},
              BatchNormAttrs{epsilon, feature_index});
}

Instruction* Builder::BatchNormInference(Instruction* x, Instruction* scale,
                                         Instruction* offset, Instruction* mean,
                                         Instruction* variance, float epsilon,
                                         int64_t feature_index) {
  return Emit(Opcode::kBatchNormInference, {x, scale, offset, mean, variance},
              BatchNormAttrs{epsilon, feature_index});
}

Instruction* Builder::BatchNormGrad(Instruction* x, Instruction* scale,
                                    Instruction* mean, Instruction* variance,
                                    Instruction* grad, float epsilon,
                                    int64_t feature_index) {
  return Emit(Opcode::kBatchNormGrad, {x, scale, mean, variance, grad},
              BatchNormAttrs{epsilon, feature_index});
}

}  // namespace ptxla::hlo
