#include <utility>

#include "base/check.h"
#include "lazy/autocast.h"
#include "lazy/grad_fn.h"
#include "lazy/ir.h"
#include "lazy/ops.h"

namespace ptxla::lazy::ops {

Tensor Sum(const Tensor& x, DimVector dims, bool keepdim) {
  Device* d = x.device();
  DimVector kept = x.dims();
  for (int64_t i : dims) kept[i] = 1;
  Tensor y = Tensor::FromValue(d, ir::Sum(d, x.ir(), std::move(dims), keepdim));
  RecordGrad({y}, {x}, [kept, from = x.dims()](const GradCall& g) -> GradList {
    Tensor grad = g.grad(0);
    if (grad.dims() != kept) grad = View(grad, kept);
    return {Expand(grad, from)};
  });
  return y;
}

Tensor Mean(const Tensor& x, DimVector dims, bool keepdim) {
  Device* d = x.device();
  DimVector kept = x.dims();
  double count = 1;
  for (int64_t i : dims) {
    count *= static_cast<double>(kept[i]);
    kept[i] = 1;
  }
  Tensor y =
      Tensor::FromValue(d, ir::Mean(d, x.ir(), std::move(dims), keepdim));
  RecordGrad({y}, {x}, [kept, count, x](const GradCall& g) -> GradList {
    Device* d = x.device();
    Tensor grad = g.grad(0);
    if (grad.dims() != kept) grad = View(grad, kept);
    // The quotient of a narrow type is computed in f32.
    const PrimitiveType math =
        hlo::BitWidth(x.type()) < 32 ? PrimitiveType::kF32 : x.type();
    const Value wide = ir::Cast(d, Expand(grad, x.dims()).ir(), math);
    const Value share = ir::Div(d, wide, d->Scalar(count, math));
    return {Tensor::FromValue(d, ir::Cast(d, share, x.type()))};
  });
  return y;
}

Tensor Softmax(const Tensor& input, int dim) {
  const Tensor x = AutocastToF32(input);
  Device* d = x.device();
  if (dim < 0) dim += x.rank();
  Tensor y = Tensor::FromValue(d, ir::Softmax(d, x.ir(), dim));
  RecordGrad(
      {y}, {x}, [result = y.Detach(), dim](const GradCall& g) -> GradList {
        Device* d = result.device();
        return {Tensor::FromValue(
            d, ir::SoftmaxBackward(d, g.grad(0).ir(), result.ir(), dim))};
      });
  return y;
}

Tensor LogSoftmax(const Tensor& input, int dim) {
  const Tensor x = AutocastToF32(input);
  Device* d = x.device();
  if (dim < 0) dim += x.rank();
  Tensor y = Tensor::FromValue(d, ir::LogSoftmax(d, x.ir(), dim));
  RecordGrad(
      {y}, {x}, [result = y.Detach(), dim](const GradCall& g) -> GradList {
        Device* d = result.device();
        return {Tensor::FromValue(
            d, ir::LogSoftmaxBackward(d, g.grad(0).ir(), result.ir(), dim))};
      });
  return y;
}

Tensor CrossEntropy(const Tensor& logits, const Tensor& labels,
                    int64_t ignore_index) {
  CHECK_EQ(logits.rank(), 2);
  const Tensor log_p = LogSoftmax(logits, 1);
  Device* d = logits.device();
  Tensor y = Tensor::FromValue(
      d, ir::NllLoss(d, log_p.ir(), labels.ir(), ignore_index));
  RecordGrad({y}, {log_p},
             [log_p, labels, ignore_index](const GradCall& g) -> GradList {
               Device* d = labels.device();
               return {Tensor::FromValue(
                   d, ir::NllLossBackward(d, g.grad(0).ir(), log_p.ir(),
                                          labels.ir(), ignore_index))};
             });
  return y;
}

namespace {

// Batch normalisation of x [1, rows, d] over everything but the rows, without
// scale and shift: what a layer norm is to XLA.
Tensor NormalizeRows(const Tensor& x, double epsilon) {
  Device* d = x.device();
  const TensorShape rows(x.type(), {x.dim(1)});
  const Value weight = ir::Full(d, 1, rows);
  const Value bias = ir::Full(d, 0, rows);
  const Value mean = ir::Full(d, 0, rows);
  const Value variance = ir::Full(d, 0, rows);
  const Value norm =
      ir::NativeBatchNorm(d, x.ir(), weight, bias, mean, variance, {epsilon});
  Tensor y = Tensor::FromValue(d, norm);
  RecordGrad({y}, {x}, [x, norm, rows, epsilon](const GradCall& g) -> GradList {
    Device* d = x.device();
    const Value weight = ir::Full(d, 1, rows);
    return {Tensor::FromValue(
        d, ir::NativeBatchNormBackward(d, g.grad(0).ir(), x.ir(), weight,
                                       Value{norm.node, 1}, Value{norm.node, 3},
                                       {epsilon}))};
  });
  return y;
}

}  // namespace

Tensor LayerNorm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                 double epsilon) {
  const int64_t width = x.dim(-1);
  const Tensor rows = View(x, {1, x.shape().ElementCount() / width, width});
  const Tensor norm = View(NormalizeRows(rows, epsilon), x.dims());
  return Addcmul(bias, norm, weight);
}

}  // namespace ptxla::lazy::ops
