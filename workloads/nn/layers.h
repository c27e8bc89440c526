// The layers of torch.nn that the models are made of. A layer owns handles of
// its parameters, which live in a Parameters list; calling it traces it.
//
//   nn::Linear dense(&parameters, "pooler.dense", 1024, 1024);
//   Tensor y = dense(x);
#ifndef PTXLA_WORKLOADS_NN_LAYERS_H_
#define PTXLA_WORKLOADS_NN_LAYERS_H_

#include <string>

#include "workloads/nn/parameters.h"

namespace ptxla::nn {

// y = x w^T + b, weight [out, in].
class Linear {
 public:
  Linear(Parameters* parameters, const std::string& name, int64_t in,
         int64_t out);
  // With the weight and bias of other layers (a tied decoder).
  Linear(lazy::Tensor weight, lazy::Tensor bias);
  lazy::Tensor operator()(const lazy::Tensor& x) const;

 private:
  lazy::Tensor weight_, bias_;
};

class Embedding {
 public:
  // The row `padding_idx` gets no gradient; -1: none.
  Embedding(Parameters* parameters, const std::string& name, int64_t rows,
            int64_t width, int64_t padding_idx = -1);
  const lazy::Tensor& weight() const { return weight_; }
  lazy::Tensor operator()(const lazy::Tensor& indices) const;

 private:
  lazy::Tensor weight_;
  int64_t padding_idx_;
};

// Over the last dimension.
class LayerNorm {
 public:
  LayerNorm(Parameters* parameters, const std::string& name, int64_t width,
            double epsilon);
  lazy::Tensor operator()(const lazy::Tensor& x) const;

 private:
  lazy::Tensor weight_, bias_;
  double epsilon_;
};

// BERT's self-attention as Hugging Face's "eager" implementation: separate
// projections, scores times 1/sqrt(head size) plus an additive mask, softmax,
// dropout on the probabilities.
class SelfAttention {
 public:
  SelfAttention(Parameters* parameters, const std::string& name, int64_t hidden,
                int64_t heads, double dropout);
  // x [batch, seq, hidden]; mask f32 [batch, 1, 1, seq].
  lazy::Tensor operator()(const lazy::Tensor& x,
                          const lazy::Tensor& mask) const;

 private:
  lazy::Tensor Heads(const Linear& projection, const lazy::Tensor& x) const;

  int64_t heads_, head_size_;
  double dropout_;
  Linear query_, key_, value_;
};

}  // namespace ptxla::nn

#endif  // PTXLA_WORKLOADS_NN_LAYERS_H_
