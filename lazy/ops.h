// The operations that models are written with: functions on tensors that trace
// lazy nodes as PyTorch/XLA's native functions do and record their gradients as
// PyTorch's derivatives do.
//
//   Tensor h = ops::Gelu(ops::Linear(x, w, b));
//   Tensor loss = ops::CrossEntropy(ops::Linear(h, w2, b2), labels);
//
// Shapes: `x` stands for any rank; wrong shapes are the caller's bug (CHECK).
// Types: element-wise `Mul` and `Div` of bf16 tensors are computed in f32 and
// cast back (PyTorch's opmath type); `Add` is not. Inside an Autocast
// (autocast.h) products are bf16 and losses f32.
#ifndef PTXLA_LAZY_OPS_H_
#define PTXLA_LAZY_OPS_H_

#include <vector>

#include "lazy/tensor.h"

namespace ptxla::lazy::ops {

// --- Shape and type (ops/views.cc) ---
Tensor Cast(const Tensor& x, PrimitiveType type);  // x itself if it has it
Tensor View(const Tensor& x, DimVector dims);      // one dimension may be -1
// Like View, but the result is a tensor of its own: what reshape() of a
// transposed tensor and _unsafe_view give.
Tensor Reshape(const Tensor& x, DimVector dims);
Tensor Permute(const Tensor& x, DimVector permutation);
Tensor Transpose(const Tensor& x, int a, int b);
Tensor T(const Tensor& x);  // of a matrix
Tensor Expand(const Tensor& x, DimVector dims);
Tensor Slice(const Tensor& x, int dim, int64_t start, int64_t end);
Tensor Index(const Tensor& x, int dim, int64_t index);  // x[:, index]
// Sums over the dimensions in which `dims` broadcasts to x's.
Tensor SumTo(const Tensor& x, const DimVector& dims);
Tensor Zeros(Device* device, const TensorShape& shape);

// --- Elementwise (ops/elementwise.cc) ---
Tensor Add(const Tensor& a, const Tensor& b, double alpha = 1);
Tensor Mul(const Tensor& a, const Tensor& b);
// By a Python number, which is a parameter of the program unless 0 or 1.
Tensor Mul(const Tensor& x, double factor);
Tensor RsubScalar(double a, const Tensor& x);  // a - x
Tensor Relu(const Tensor& x);
Tensor Tanh(const Tensor& x);
Tensor Gelu(const Tensor& x);  // with erf
// bias + x * weight, both of x's last dimension; bias.addcmul(x, weight).
Tensor Addcmul(const Tensor& bias, const Tensor& x, const Tensor& weight);
// Elements are 0 with probability p, else divided by 1 - p. One random
// operation of the step's seed chain; nothing when p is 0.
Tensor Dropout(const Tensor& x, double p);

// --- Reductions, normalisation, losses (ops/normalization.cc) ---
Tensor Sum(const Tensor& x, DimVector dims, bool keepdim);
Tensor Softmax(const Tensor& x, int dim);
Tensor LogSoftmax(const Tensor& x, int dim);
// Over the last dimension.
Tensor LayerNorm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                 double epsilon);
// Mean over rows of logits [n, c] against labels s64[n]; rows whose label is
// ignore_index do not count.
Tensor CrossEntropy(const Tensor& logits, const Tensor& labels,
                    int64_t ignore_index = -100);

Tensor Mean(const Tensor& x, DimVector dims, bool keepdim);

// --- Images [n, h, w, c] (ops/images.cc) ---
// Kernels [kh, kw, c, o]; the same stride and padding in both directions.
// Inside an Autocast, a bf16 convolution.
Tensor Convolution(const Tensor& x, const Tensor& weight, int64_t stride,
                   int64_t padding);
// Padding counts as -infinity.
Tensor MaxPool(const Tensor& x, int64_t size, int64_t stride, int64_t padding);
// Per feature; weights and statistics are f32 whatever x is. Training takes the
// batch's statistics and moves the running ones towards them, in place, by
// `momentum`.
struct BatchNormOptions {
  double epsilon = 1e-5, momentum = 0.1;
  bool training = true;
};
Tensor BatchNorm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                 const Tensor& running_mean, const Tensor& running_var,
                 const BatchNormOptions& options);

// --- Products (ops/products.cc) ---
// [.., m, k] x [k, n], or [b, h, m, k] x [b, h, k, n].
Tensor Matmul(const Tensor& a, const Tensor& b);
// x [.., in], weight [out, in], bias [out] or undefined.
Tensor Linear(const Tensor& x, const Tensor& weight, const Tensor& bias);

// --- Indexing (ops/embedding.cc) ---
// Rows of weight [n, d] at s64 indices of any shape. The row `padding_idx` gets
// no gradient; -1: none.
Tensor Embedding(const Tensor& weight, const Tensor& indices,
                 int64_t padding_idx = -1);

// --- In place, without history (ops/in_place.cc): what optimizers use ---
void MulInPlace(const Tensor& x, double factor);
void AddInPlace(const Tensor& x, const Tensor& y, double alpha);
void AddInPlace(const Tensor& x, double addend);
void ZeroInPlace(const Tensor& x);
// x += weight * (end - x)
void LerpInPlace(const Tensor& x, const Tensor& end, double weight);
// x += value * t1 * t2; value is an f64 parameter.
void AddcmulInPlace(const Tensor& x, const Tensor& t1, const Tensor& t2,
                    double value);
void AddcdivInPlace(const Tensor& x, const Tensor& t1, const Tensor& t2,
                    double value);  // x += value * t1 / t2
Tensor Sqrt(const Tensor& x);
Tensor DivScalar(const Tensor& x, double divisor);
Tensor AddScalar(const Tensor& x, double addend);

// --- Collectives (ops/collectives.cc) ---
// One all-reduce of all tensors, chained to the step's others by the token;
// every tensor becomes the sum over its group of replicas, times `scale`.
// xm.all_reduce(REDUCE_SUM, tensors, scale).
void AllReduceInPlace(const std::vector<Tensor>& tensors, double scale,
                      std::vector<std::vector<int64_t>> groups);

}  // namespace ptxla::lazy::ops

#endif  // PTXLA_LAZY_OPS_H_
