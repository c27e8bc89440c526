#include "workloads/nn/image_layers.h"

#include <cmath>

#include "absl/strings/str_cat.h"

namespace ptxla::nn {

namespace ops = lazy::ops;
using hlo::PrimitiveType;
using lazy::HostValue;
using lazy::Tensor;

Conv2d::Conv2d(Parameters* parameters, const std::string& name,
               const Conv2dDims& dims)
    : dims_(dims) {
  // torchvision's ResNet: the standard deviation of kaiming_normal_(fan_out).
  const double fan_out =
      static_cast<double>(dims.out * dims.kernel * dims.kernel);
  weight_ = parameters->Make(absl::StrCat(name, ".weight"),
                             {dims.kernel, dims.kernel, dims.in, dims.out},
                             std::sqrt(6 / fan_out));
}

Tensor Conv2d::operator()(const Tensor& x) const {
  return ops::Convolution(x, weight_, dims_.stride, dims_.padding);
}

BatchNorm2d::BatchNorm2d(Parameters* parameters, const std::string& name,
                         int64_t features, bool training)
    : weight_(parameters->MakeConstant(absl::StrCat(name, ".weight"),
                                       {features}, 1)),
      bias_(parameters->MakeConstant(absl::StrCat(name, ".bias"), {features},
                                     0)) {
  options_.training = training;
  const auto buffer = [&](const char* what, PrimitiveType type,
                          lazy::DimVector dims, double value) {
    return Tensor::FromHost(parameters->device(), {type, std::move(dims)},
                            HostValue::Constant(value),
                            absl::StrCat(name, ".", what));
  };
  running_mean_ = buffer("running_mean", PrimitiveType::kF32, {features}, 0);
  running_var_ = buffer("running_var", PrimitiveType::kF32, {features}, 1);
  batches_ = buffer("num_batches_tracked", PrimitiveType::kS64, {}, 0);
}

Tensor BatchNorm2d::operator()(const Tensor& x) const {
  if (options_.training) ops::AddInPlace(batches_, 1);
  return ops::BatchNorm(x, weight_, bias_, running_mean_, running_var_,
                        options_);
}

}  // namespace ptxla::nn
