#include "workloads/nn/layers.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lazy/ops.h"

namespace ptxla::nn {

namespace ops = lazy::ops;
using lazy::Tensor;

Linear::Linear(Parameters* parameters, const std::string& name, int64_t in,
               int64_t out) {
  // torch.nn.Linear: uniform within 1/sqrt(in).
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  weight_ = parameters->Make(absl::StrCat(name, ".weight"), {out, in}, bound);
  bias_ = parameters->Make(absl::StrCat(name, ".bias"), {out}, bound);
}

Linear::Linear(Tensor weight, Tensor bias)
    : weight_(std::move(weight)), bias_(std::move(bias)) {}

Tensor Linear::operator()(const Tensor& x) const {
  return ops::Linear(x, weight_, bias_);
}

Embedding::Embedding(Parameters* parameters, const std::string& name,
                     int64_t rows, int64_t width, int64_t padding_idx)
    : weight_(
          parameters->Make(absl::StrCat(name, ".weight"), {rows, width}, 0.02)),
      padding_idx_(padding_idx) {}

Tensor Embedding::operator()(const Tensor& indices) const {
  return ops::Embedding(weight_, indices, padding_idx_);
}

LayerNorm::LayerNorm(Parameters* parameters, const std::string& name,
                     int64_t width, double epsilon)
    : weight_(
          parameters->MakeConstant(absl::StrCat(name, ".weight"), {width}, 1)),
      bias_(parameters->MakeConstant(absl::StrCat(name, ".bias"), {width}, 0)),
      epsilon_(epsilon) {}

Tensor LayerNorm::operator()(const Tensor& x) const {
  return ops::LayerNorm(x, weight_, bias_, epsilon_);
}

SelfAttention::SelfAttention(Parameters* parameters, const std::string& name,
                             int64_t hidden, int64_t heads, double dropout)
    : heads_(heads),
      head_size_(hidden / heads),
      dropout_(dropout),
      query_(parameters, absl::StrCat(name, ".query"), hidden, hidden),
      key_(parameters, absl::StrCat(name, ".key"), hidden, hidden),
      value_(parameters, absl::StrCat(name, ".value"), hidden, hidden) {}

// [batch, seq, hidden] -> [batch, heads, seq, head size].
Tensor SelfAttention::Heads(const Linear& projection, const Tensor& x) const {
  const Tensor y =
      ops::View(projection(x), {x.dim(0), x.dim(1), heads_, head_size_});
  return ops::Transpose(y, 1, 2);
}

Tensor SelfAttention::operator()(const Tensor& x, const Tensor& mask) const {
  const Tensor query = Heads(query_, x);
  const Tensor key = Heads(key_, x);
  const Tensor value = Heads(value_, x);
  Tensor scores = ops::Matmul(query, ops::Transpose(key, 2, 3));
  scores = ops::Mul(scores, 1 / std::sqrt(static_cast<double>(head_size_)));
  scores = ops::Add(scores, mask);
  const Tensor p = ops::Dropout(ops::Softmax(scores, -1), dropout_);
  const Tensor context = ops::Transpose(ops::Matmul(p, value), 1, 2);
  return ops::Reshape(context, {x.dim(0), x.dim(1), heads_ * head_size_});
}

}  // namespace ptxla::nn
