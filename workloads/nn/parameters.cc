#include "workloads/nn/parameters.h"

#include <utility>

#include "base/hash.h"

namespace ptxla::nn {

lazy::Tensor Parameters::Register(const std::string& name, lazy::DimVector dims,
                                  lazy::HostValue value) {
  lazy::Tensor t = lazy::Tensor::FromHost(
      device_, lazy::TensorShape(hlo::PrimitiveType::kF32, std::move(dims)),
      std::move(value), name);
  t.set_requires_grad(true);
  tensors_.push_back(t);
  return t;
}

lazy::Tensor Parameters::Make(const std::string& name, lazy::DimVector dims,
                              double bound) {
  return Register(name, std::move(dims),
                  lazy::HostValue::Uniform(
                      -bound, bound, HashCombine(seed_, HashBytes(name))));
}

lazy::Tensor Parameters::MakeConstant(const std::string& name,
                                      lazy::DimVector dims, double value) {
  return Register(name, std::move(dims), lazy::HostValue::Constant(value));
}

int64_t Parameters::element_count() const {
  int64_t count = 0;
  for (const lazy::Tensor& t : tensors_) count += t.shape().ElementCount();
  return count;
}

void Parameters::ClearGradients() const {
  for (const lazy::Tensor& t : tensors_) t.clear_grad();
}

}  // namespace ptxla::nn
