// Residual networks of bottlenecks as torchvision's (version 1.5: the 3x3
// convolution strides), on images [n, h, w, 3].
//
//   Resnet net(&parameters, ResnetDims(), /*training=*/true);
//   parameters.element_count() == 25557032
//   Tensor loss = ops::CrossEntropy(net(images), labels);
#ifndef PTXLA_WORKLOADS_MODELS_RESNET_H_
#define PTXLA_WORKLOADS_MODELS_RESNET_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workloads/nn/image_layers.h"
#include "workloads/nn/layers.h"

namespace ptxla::workloads {

struct ResnetDims {
  std::vector<int64_t> blocks = {3, 4, 6, 3};  // per stage
  int64_t width = 64;     // of the first stage's bottlenecks; doubles
  int64_t expansion = 4;  // features of a block's result per width
  int64_t image = 224;    // rows and columns
  int64_t channels = 3;
  int64_t classes = 1000;
};

class Resnet {
 public:
  Resnet(nn::Parameters* parameters, const ResnetDims& dims, bool training);
  // Images [n, image, image, channels] -> [n, classes].
  lazy::Tensor operator()(const lazy::Tensor& images) const;

 private:
  struct ConvNorm {
    nn::Conv2d conv;
    nn::BatchNorm2d norm;
    lazy::Tensor operator()(const lazy::Tensor& x) const {
      return norm(conv(x));
    }
  };
  struct Block {
    ConvNorm reduce, spread, expand;
    std::optional<ConvNorm> shortcut;
    lazy::Tensor operator()(const lazy::Tensor& x) const;
  };

  ConvNorm stem_;
  std::vector<std::vector<Block>> stages_;
  nn::Linear classifier_;
};

// 2 x multiply-adds of a forward pass: convolutions and the classifier.
double ResnetForwardFlops(const ResnetDims& dims, int64_t batch);
// Of a training step: three products per layer, of which the first layer's
// input gradient is not computed.
double ResnetTrainFlops(const ResnetDims& dims, int64_t batch);

}  // namespace ptxla::workloads

#endif  // PTXLA_WORKLOADS_MODELS_RESNET_H_
