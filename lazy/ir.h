// Makers of the lazy nodes: what operands each kind takes, what shape (with
// layout) it yields. They know nothing of autograd or in-place updates; that is
// lazy/ops.h on tensors.
//
//   Value y = ir::Addmm(device, x, ir::Permute(device, w, {1, 0}), bias);
//
// A wrong shape is our own bug: CHECK fails.
#ifndef PTXLA_LAZY_IR_H_
#define PTXLA_LAZY_IR_H_

#include <vector>

#include "absl/types/span.h"
#include "lazy/device.h"

namespace ptxla::lazy::ir {

// --- Type and shape ---
Value Cast(Device* d, const Value& x, PrimitiveType type);
Value View(Device* d, const Value& x, DimVector dims);
Value Permute(Device* d, const Value& x, DimVector permutation);
Value Expand(Device* d, const Value& x, DimVector dims);
// `value` in every element: expand(Constant).
Value Full(Device* d, double value, const TensorShape& shape);
// aten::slice, along one dimension.
Value Select(Device* d, const Value& x, int dim, int64_t start, int64_t end);
Value GenericSlice(Device* d, const Value& x, DimVector starts,
                   DimVector limits);
// `x` with `update` written at `starts`.
Value UpdateSlice(Device* d, const Value& x, const Value& update,
                  DimVector starts);
// `x` with `update` in the place of Select(x, ..., starts, limits).
Value Unselect(Device* d, const Value& x, const Value& update, DimVector starts,
               DimVector limits);
// One operand: a new dimension of size 1 at `dim`.
Value Stack(Device* d, const Value& x, int dim);

// --- Elementwise; operands broadcast, types promote ---
Value Unary(Device* d, OpKind kind, const Value& x);  // sqrt, tanh, relu, gelu
// a + b * alpha. Without alpha: a + b, the form inside other operations.
Value Add(Device* d, const Value& a, const Value& b, const Value& alpha = {});
// other - x * alpha, both scalars.
Value Rsub(Device* d, const Value& x, const Value& other, const Value& alpha);
Value Mul(Device* d, const Value& a, const Value& b);
Value Div(Device* d, const Value& a, const Value& b);
Value Pow(Device* d, const Value& x, const Value& exponent);
Value Ne(Device* d, const Value& a, const Value& b);
Value Lt(Device* d, const Value& a, const Value& b);
Value Where(Device* d, const Value& condition, const Value& a, const Value& b);
Value Addcmul(Device* d, const Value& x, const Value& t1, const Value& t2,
              const Value& value);  // x + t1 * t2 * value
Value Addcdiv(Device* d, const Value& x, const Value& t1, const Value& t2,
              const Value& value);  // x + t1 / t2 * value
Value Lerp(Device* d, const Value& start, const Value& end,
           const Value& weight);
// grad where the relu's result is above 0.
Value ThresholdBackward(Device* d, const Value& grad, const Value& result);
Value GeluBackward(Device* d, const Value& grad, const Value& x);
// 1 with probability `probability` (same shape), else 0, in its type.
Value Bernoulli(Device* d, const Value& probability, const Value& seed);

// --- Reductions and normalisation ---
Value Sum(Device* d, const Value& x, DimVector dims, bool keepdim);
Value Softmax(Device* d, const Value& x, int dim);
Value SoftmaxBackward(Device* d, const Value& grad, const Value& result,
                      int dim);
Value LogSoftmax(Device* d, const Value& x, int dim);
Value LogSoftmaxBackward(Device* d, const Value& grad, const Value& result,
                         int dim);
// Mean negative log likelihood of labels s64[n] under log probabilities [n, c].
Value NllLoss(Device* d, const Value& log_p, const Value& labels,
              int64_t ignore_index);
Value NllLossBackward(Device* d, const Value& grad, const Value& log_p,
                      const Value& labels, int64_t ignore_index);
// Outputs: normalised x, mean, variance, 1/sqrt(variance + epsilon), the last
// three per feature, in the weights' type.
Value NativeBatchNorm(Device* d, const Value& x, const Value& weight,
                      const Value& bias, const Value& running_mean,
                      const Value& running_var, BatchNormAttrs attrs);
// Outputs: gradients of x, weight, bias.
Value NativeBatchNormBackward(Device* d, const Value& grad, const Value& x,
                              const Value& weight, const Value& mean,
                              const Value& inverse_std, BatchNormAttrs attrs);
Value Mean(Device* d, const Value& x, DimVector dims, bool keepdim);
// fresh * share + running * (1 - share).
Value MovingAverage(Device* d, const Value& fresh, const Value& running,
                    double share);

// --- Images: arrays [n, h, w, c], kernels [kh, kw, c, o] (ir_images.cc) ---
// `attrs.sizes` are the kernel's own.
Value Convolution(Device* d, const Value& x, const Value& weight,
                  WindowAttrs attrs);
// Outputs: gradients of x, of the weights, of a bias [o].
Value ConvolutionBackward(Device* d, const Value& grad, const Value& x,
                          const Value& weight, WindowAttrs attrs);
// The maximum alone: the indices, which PyTorch/XLA finds in a loop over the
// outputs, are read by nobody, so that no compiler keeps them.
Value MaxPool(Device* d, const Value& x, WindowAttrs attrs);
Value MaxPoolBackward(Device* d, const Value& grad, const Value& x,
                      WindowAttrs attrs);

// --- Products ---
Value Mm(Device* d, const Value& a, const Value& b);      // [m,k] [k,n]
Value Matmul(Device* d, const Value& a, const Value& b);  // [b,m,k] [b,k,n]
Value Addmm(Device* d, const Value& a, const Value& b, const Value& bias);

// --- Indexing ---
// Rows of x [n, ...] at indices [m].
Value IndexSelect(Device* d, const Value& x, const Value& indices);
// `base` with values [m, ...] added at the rows indices [m, 1].
Value IndexPut(Device* d, const Value& base, const Value& indices,
               const Value& values);

// --- Collectives ---
// Outputs: every tensor summed over its group and scaled, then the new token.
Value CrossReplicaSum(Device* d, absl::Span<const Value> tensors,
                      const Value& token, CollectiveAttrs attrs);

}  // namespace ptxla::lazy::ir

#endif  // PTXLA_LAZY_IR_H_
