// A multi-layer perceptron: Linear, ReLU, ... Linear, with dropout after the
// first ReLU.
//
//   Mlp mlp(&parameters, {{784, 512, 256, 10}, 0.2});
//   Tensor loss = ops::CrossEntropy(mlp(images), labels);
#ifndef PTXLA_WORKLOADS_MODELS_MLP_H_
#define PTXLA_WORKLOADS_MODELS_MLP_H_

#include <cstdint>
#include <vector>

#include "workloads/nn/layers.h"

namespace ptxla::workloads {

struct MlpDims {
  std::vector<int64_t> widths = {784, 512, 256, 10};  // input ... classes
  double dropout = 0.2;
};

class Mlp {
 public:
  Mlp(nn::Parameters* parameters, const MlpDims& dims);
  // x [batch, widths.front()] -> [batch, widths.back()].
  lazy::Tensor operator()(const lazy::Tensor& x) const;

 private:
  std::vector<nn::Linear> layers_;
  double dropout_;
};

// 2 x multiply-adds of a forward pass.
double MlpForwardFlops(const MlpDims& dims, int64_t batch);
// Of a training step: three products per layer, of which the first layer's
// input gradient is not computed.
double MlpTrainFlops(const MlpDims& dims, int64_t batch);

}  // namespace ptxla::workloads

#endif  // PTXLA_WORKLOADS_MODELS_MLP_H_
