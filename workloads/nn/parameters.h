// The trainable tensors of a model, in the order in which torch's
// Module.parameters() gives them: optimizers walk them in it.
//
//   nn::Parameters parameters(&device, /*seed=*/1);
//   Tensor w = parameters.Make("encoder.0.weight", {64, 32}, 0.02);
//   parameters.element_count()   // 2048
#ifndef PTXLA_WORKLOADS_NN_PARAMETERS_H_
#define PTXLA_WORKLOADS_NN_PARAMETERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lazy/tensor.h"

namespace ptxla::nn {

class Parameters {
 public:
  Parameters(lazy::Device* device, uint64_t seed)
      : device_(device), seed_(seed) {}

  // f32, uniform in [-bound, bound).
  lazy::Tensor Make(const std::string& name, lazy::DimVector dims,
                    double bound);
  // f32, every element `value`.
  lazy::Tensor MakeConstant(const std::string& name, lazy::DimVector dims,
                            double value);

  lazy::Device* device() const { return device_; }
  const std::vector<lazy::Tensor>& tensors() const { return tensors_; }
  int64_t element_count() const;
  // zero_grad(set_to_none=True).
  void ClearGradients() const;

 private:
  lazy::Tensor Register(const std::string& name, lazy::DimVector dims,
                        lazy::HostValue value);

  lazy::Device* device_;
  uint64_t seed_;
  std::vector<lazy::Tensor> tensors_;
};

}  // namespace ptxla::nn

#endif  // PTXLA_WORKLOADS_NN_PARAMETERS_H_
