// The kinds of lazy nodes, with the names that PyTorch/XLA gives them in its
// IR text.
//
//   OpName(OpKind::kAddmm) == "aten::addmm"
//   HloOpType(OpKind::kAddmm) == "aten__addmm"   // HLO metadata op_type
//
// What each kind takes as operands and attributes: lazy/ir.h. How it becomes
// HLO: lazy/lowering/.
#ifndef PTXLA_LAZY_OP_KIND_H_
#define PTXLA_LAZY_OP_KIND_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

// X(enumerator, name)
#define PTXLA_LAZY_OPS(X)                                            \
  X(kDeviceData, "xla::device_data")                                 \
  X(kConstant, "prim::Constant")                                     \
  X(kCast, "xla::cast")                                              \
  X(kView, "aten::view")                                             \
  X(kPermute, "aten::permute")                                       \
  X(kExpand, "aten::expand")                                         \
  X(kSelect, "xla::select")                                          \
  X(kGenericSlice, "xla::generic_slice")                             \
  X(kUpdateSlice, "xla::update_slice")                               \
  X(kUnselect, "xla::unselect")                                      \
  X(kStack, "aten::stack")                                           \
  X(kAdd, "aten::add")                                               \
  X(kRsub, "aten::rsub")                                             \
  X(kMul, "aten::mul")                                               \
  X(kDiv, "aten::div")                                               \
  X(kPow, "aten::pow")                                               \
  X(kNe, "aten::ne")                                                 \
  X(kLt, "aten::lt")                                                 \
  X(kWhere, "aten::where")                                           \
  X(kSqrt, "aten::sqrt")                                             \
  X(kTanh, "aten::tanh")                                             \
  X(kRelu, "aten::relu")                                             \
  X(kThresholdBackward, "aten::threshold_backward")                  \
  X(kGelu, "aten::gelu")                                             \
  X(kGeluBackward, "aten::gelu_backward")                            \
  X(kSoftmax, "aten::softmax")                                       \
  X(kSoftmaxBackward, "aten::_softmax_backward_data")                \
  X(kLogSoftmax, "aten::log_softmax")                                \
  X(kLogSoftmaxBackward, "aten::_log_softmax_backward_data")         \
  X(kNllLoss, "aten::nll_loss")                                      \
  X(kNllLossBackward, "aten::nll_loss_backward")                     \
  X(kSum, "aten::sum")                                               \
  X(kMm, "aten::mm")                                                 \
  X(kMatmul, "aten::matmul")                                         \
  X(kAddmm, "aten::addmm")                                           \
  X(kIndexSelect, "aten::index_select")                              \
  X(kIndexPut, "aten::index_put")                                    \
  X(kBernoulli, "aten::bernoulli")                                   \
  X(kConvolution, "aten::convolution_overrideable")                  \
  X(kConvolutionBackward, "aten::convolution_backward_overrideable") \
  X(kMaxPool, "aten::max_pool2d")                                    \
  X(kMaxPoolBackward, "aten::max_pool2d_with_indices_backward")      \
  X(kMean, "aten::mean")                                             \
  X(kMovingAverage, "xla::moving_average")                           \
  X(kNativeBatchNorm, "aten::native_batch_norm")                     \
  X(kNativeBatchNormBackward, "aten::native_batch_norm_backward")    \
  X(kAddcmul, "aten::addcmul")                                       \
  X(kAddcdiv, "aten::addcdiv")                                       \
  X(kLerp, "aten::lerp")                                             \
  X(kCrossReplicaSum, "xla::cross_replica_sum")

namespace ptxla::lazy {

enum class OpKind : uint8_t {
#define PTXLA_X(e, name) e,
  PTXLA_LAZY_OPS(PTXLA_X)
#undef PTXLA_X
};

// "aten::add".
absl::string_view OpName(OpKind kind);
// "aten__add", what PyTorch/XLA writes as op_type.
const std::string& HloOpType(OpKind kind);
std::optional<OpKind> OpKindFromName(absl::string_view name);

}  // namespace ptxla::lazy

#endif  // PTXLA_LAZY_OP_KIND_H_
