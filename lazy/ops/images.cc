#include <utility>

#include "base/check.h"
#include "lazy/autocast.h"
#include "lazy/grad_fn.h"
#include "lazy/ir.h"
#include "lazy/ops.h"

namespace ptxla::lazy::ops {

Tensor Convolution(const Tensor& input, const Tensor& kernel, int64_t stride,
                   int64_t padding) {
  CHECK(input.rank() == 4 && kernel.rank() == 4);
  const Tensor weight = AutocastToBf16(kernel);
  const Tensor x = AutocastToBf16(input);
  Device* d = x.device();
  const WindowAttrs window = {
      {weight.dim(0), weight.dim(1)}, {stride, stride}, {padding, padding}};
  Tensor y =
      Tensor::FromValue(d, ir::Convolution(d, x.ir(), weight.ir(), window));
  RecordGrad({y}, {x, weight}, [x, weight, window](const GradCall& g) {
    Device* d = x.device();
    const Value grads =
        ir::ConvolutionBackward(d, g.grad(0).ir(), x.ir(), weight.ir(), window);
    return GradList{
        g.needs(0) ? Tensor::FromValue(d, Value{grads.node, 0}) : Tensor(),
        g.needs(1) ? Tensor::FromValue(d, Value{grads.node, 1}) : Tensor()};
  });
  return y;
}

Tensor MaxPool(const Tensor& x, int64_t size, int64_t stride, int64_t padding) {
  CHECK_EQ(x.rank(), 4);
  Device* d = x.device();
  const WindowAttrs window = {
      {size, size}, {stride, stride}, {padding, padding}};
  Tensor y = Tensor::FromValue(d, ir::MaxPool(d, x.ir(), window));
  RecordGrad({y}, {x}, [x, window](const GradCall& g) -> GradList {
    Device* d = x.device();
    return {Tensor::FromValue(
        d, ir::MaxPoolBackward(d, g.grad(0).ir(), x.ir(), window))};
  });
  return y;
}

Tensor BatchNorm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                 const Tensor& running_mean, const Tensor& running_var,
                 const BatchNormOptions& options) {
  Device* d = x.device();
  const BatchNormAttrs attrs = {options.epsilon, x.rank() - 1,
                                options.training};
  const Value norm =
      ir::NativeBatchNorm(d, x.ir(), weight.ir(), bias.ir(), running_mean.ir(),
                          running_var.ir(), attrs);
  Tensor y = Tensor::FromValue(d, norm);
  if (!options.training) return y;
  for (int i = 0; i < 2; ++i) {
    const Tensor& running = i == 0 ? running_mean : running_var;
    running.Update(ir::MovingAverage(d, Value{norm.node, i + 1}, running.ir(),
                                     options.momentum));
  }
  RecordGrad({y}, {x, weight, bias},
             [x, weight, norm, attrs](const GradCall& g) -> GradList {
               Device* d = x.device();
               const Value grads = ir::NativeBatchNormBackward(
                   d, g.grad(0).ir(), x.ir(), weight.ir(), Value{norm.node, 1},
                   Value{norm.node, 3}, attrs);
               GradList list(3);
               for (int i = 0; i < 3; ++i) {
                 if (!g.needs(i)) continue;
                 list[i] = Tensor::FromValue(d, Value{grads.node, i});
               }
               return list;
             });
  return y;
}

}  // namespace ptxla::lazy::ops
