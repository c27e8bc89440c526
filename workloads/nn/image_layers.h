// The layers of torch.nn that work on images, here [n, h, w, c]
// (channels last), with kernels [kh, kw, c, o].
//
//   nn::Conv2d conv(&parameters, "conv1", {3, 64, 7, 2, 3});
//   nn::BatchNorm2d norm(&parameters, "bn1", 64, /*training=*/true);
//   Tensor y = ops::Relu(norm(conv(images)));
#ifndef PTXLA_WORKLOADS_NN_IMAGE_LAYERS_H_
#define PTXLA_WORKLOADS_NN_IMAGE_LAYERS_H_

#include <string>

#include "lazy/ops.h"
#include "workloads/nn/parameters.h"

namespace ptxla::nn {

struct Conv2dDims {
  int64_t in = 0, out = 0;  // features
  int64_t kernel = 1, stride = 1, padding = 0;

  // Rows of the result for so many rows of the image.
  int64_t Positions(int64_t rows) const {
    return (rows + 2 * padding - kernel) / stride + 1;
  }
};

// Without a bias.
class Conv2d {
 public:
  Conv2d(Parameters* parameters, const std::string& name,
         const Conv2dDims& dims);
  lazy::Tensor operator()(const lazy::Tensor& x) const;

 private:
  Conv2dDims dims_;
  lazy::Tensor weight_;
};

// Running mean, variance and the count of batches are buffers of the device:
// a training step writes them.
class BatchNorm2d {
 public:
  BatchNorm2d(Parameters* parameters, const std::string& name, int64_t features,
              bool training);
  lazy::Tensor operator()(const lazy::Tensor& x) const;

 private:
  lazy::ops::BatchNormOptions options_;
  lazy::Tensor weight_, bias_, running_mean_, running_var_, batches_;
};

}  // namespace ptxla::nn

#endif  // PTXLA_WORKLOADS_NN_IMAGE_LAYERS_H_
