// torch.optim's SGD with momentum and AdamW, both as the loop over parameters
// that PyTorch runs on XLA devices (nothing fused, capturable=False: step count
// and bias corrections are host numbers that enter the graph as scalars).
//
//   nn::AdamW optimizer(parameters.tensors(), {.learning_rate = 1e-4});
//   Backward(loss);
//   optimizer.Step();
//
// State is made in the first step, so the first step is another program than
// the later ones. A changed learning rate is another scalar, not another
// program.
#ifndef PTXLA_WORKLOADS_NN_OPTIMIZER_H_
#define PTXLA_WORKLOADS_NN_OPTIMIZER_H_

#include <memory>
#include <vector>

#include "lazy/tensor.h"

namespace ptxla::nn {

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // Parameters without a gradient are left alone.
  virtual void Step() = 0;
  virtual void set_learning_rate(double learning_rate) = 0;
};

struct SgdOptions {
  double learning_rate = 0.1, momentum = 0.9, weight_decay = 0;
};
std::unique_ptr<Optimizer> MakeSgd(std::vector<lazy::Tensor> parameters,
                                   SgdOptions options);

struct AdamWOptions {
  double learning_rate = 1e-4, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8,
         weight_decay = 0.01;
};
std::unique_ptr<Optimizer> MakeAdamW(std::vector<lazy::Tensor> parameters,
                                     AdamWOptions options);

}  // namespace ptxla::nn

#endif  // PTXLA_WORKLOADS_NN_OPTIMIZER_H_
