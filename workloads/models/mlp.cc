#include "workloads/models/mlp.h"

#include "absl/strings/str_cat.h"
#include "lazy/ops.h"

namespace ptxla::workloads {

namespace ops = lazy::ops;

Mlp::Mlp(nn::Parameters* parameters, const MlpDims& dims)
    : dropout_(dims.dropout) {
  for (size_t i = 0; i + 1 < dims.widths.size(); ++i) {
    layers_.emplace_back(parameters, absl::StrCat("layer.", i), dims.widths[i],
                         dims.widths[i + 1]);
  }
}

lazy::Tensor Mlp::operator()(const lazy::Tensor& input) const {
  lazy::Tensor x = input;
  for (size_t i = 0; i < layers_.size(); ++i) {
    const lazy::ScopePusher scope(x.device(), absl::StrCat("layer.", i));
    x = layers_[i](x);
    if (i + 1 < layers_.size()) x = ops::Relu(x);
    if (i == 0 && layers_.size() > 1) x = ops::Dropout(x, dropout_);
  }
  return x;
}

double MlpForwardFlops(const MlpDims& dims, int64_t batch) {
  double flops = 0;
  for (size_t i = 0; i + 1 < dims.widths.size(); ++i) {
    flops += 2.0 * batch * dims.widths[i] * dims.widths[i + 1];
  }
  return flops;
}

double MlpTrainFlops(const MlpDims& dims, int64_t batch) {
  const double first = 2.0 * batch * dims.widths[0] * dims.widths[1];
  return 3 * MlpForwardFlops(dims, batch) - first;
}

}  // namespace ptxla::workloads
