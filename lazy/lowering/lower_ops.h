// One function per kind of lazy node: its HLO, in torch_xla's order of
// emission. `in` are the instructions of the operands. They return the outputs
// of the node.
#ifndef PTXLA_LAZY_LOWERING_LOWER_OPS_H_
#define PTXLA_LAZY_LOWERING_LOWER_OPS_H_

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "lazy/lowering/emitter.h"
#include "lazy/node.h"

namespace ptxla::lazy {

struct LoweringInput {
  const Node& node;
  HloEmitter& e;
  absl::Span<hlo::Instruction* const> in;
};
using LoweringOutput = absl::InlinedVector<hlo::Instruction*, 4>;
using LowerFn = LoweringOutput (*)(const LoweringInput&);

// lower_elementwise.cc
LoweringOutput LowerConstant(const LoweringInput& x);
LoweringOutput LowerCast(const LoweringInput& x);
LoweringOutput LowerAdd(const LoweringInput& x);
LoweringOutput LowerRsub(const LoweringInput& x);
LoweringOutput LowerMul(const LoweringInput& x);
LoweringOutput LowerDiv(const LoweringInput& x);
LoweringOutput LowerPow(const LoweringInput& x);
LoweringOutput LowerNe(const LoweringInput& x);
LoweringOutput LowerLt(const LoweringInput& x);
LoweringOutput LowerWhere(const LoweringInput& x);
LoweringOutput LowerSqrt(const LoweringInput& x);
LoweringOutput LowerTanh(const LoweringInput& x);
LoweringOutput LowerAddcmul(const LoweringInput& x);
LoweringOutput LowerAddcdiv(const LoweringInput& x);
LoweringOutput LowerLerp(const LoweringInput& x);

// lower_activations.cc
LoweringOutput LowerRelu(const LoweringInput& x);
LoweringOutput LowerThresholdBackward(const LoweringInput& x);
LoweringOutput LowerGelu(const LoweringInput& x);
LoweringOutput LowerGeluBackward(const LoweringInput& x);
LoweringOutput LowerSoftmax(const LoweringInput& x);
LoweringOutput LowerSoftmaxBackward(const LoweringInput& x);
LoweringOutput LowerLogSoftmax(const LoweringInput& x);
LoweringOutput LowerLogSoftmaxBackward(const LoweringInput& x);

// lower_shape.cc
LoweringOutput LowerView(const LoweringInput& x);
LoweringOutput LowerPermute(const LoweringInput& x);
LoweringOutput LowerExpand(const LoweringInput& x);
LoweringOutput LowerSlice(const LoweringInput& x);
LoweringOutput LowerUpdateSlice(const LoweringInput& x);
LoweringOutput LowerUnselect(const LoweringInput& x);
LoweringOutput LowerStack(const LoweringInput& x);
LoweringOutput LowerIndexSelect(const LoweringInput& x);
LoweringOutput LowerIndexPut(const LoweringInput& x);

// lower_products.cc
LoweringOutput LowerMatmul(const LoweringInput& x);  // mm, matmul
LoweringOutput LowerAddmm(const LoweringInput& x);
LoweringOutput LowerSum(const LoweringInput& x);
LoweringOutput LowerCrossReplicaSum(const LoweringInput& x);

// lower_norm.cc
LoweringOutput LowerBatchNorm(const LoweringInput& x);
LoweringOutput LowerBatchNormBackward(const LoweringInput& x);
LoweringOutput LowerMean(const LoweringInput& x);
LoweringOutput LowerMovingAverage(const LoweringInput& x);

// lower_images.cc
LoweringOutput LowerConvolution(const LoweringInput& x);
LoweringOutput LowerConvolutionBackward(const LoweringInput& x);
LoweringOutput LowerMaxPool(const LoweringInput& x);
LoweringOutput LowerMaxPoolBackward(const LoweringInput& x);

// lower_loss.cc
LoweringOutput LowerNllLoss(const LoweringInput& x);
LoweringOutput LowerNllLossBackward(const LoweringInput& x);

// lower_random.cc
LoweringOutput LowerBernoulli(const LoweringInput& x);

}  // namespace ptxla::lazy

#endif  // PTXLA_LAZY_LOWERING_LOWER_OPS_H_
