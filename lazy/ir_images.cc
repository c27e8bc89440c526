#include <utility>

#include "base/check.h"
#include "lazy/ir.h"

namespace ptxla::lazy::ir {
namespace {

// Positions of the window along spatial dimension i of x [n, h, w, c].
int64_t Positions(const Value& x, int i, const WindowAttrs& w) {
  const int64_t room = x.shape().dim(i + 1) + 2 * w.padding[i] - w.sizes[i];
  CHECK_GE(room, 0) << "the window does not fit the image";
  return room / w.strides[i] + 1;
}

}  // namespace

Value Convolution(Device* d, const Value& x, const Value& weight,
                  WindowAttrs attrs) {
  CHECK_EQ(x.shape().dim(3), weight.shape().dim(2));
  TensorShape shape(x.type(), {x.shape().dim(0), Positions(x, 0, attrs),
                               Positions(x, 1, attrs), weight.shape().dim(3)});
  return d->MakeNode(OpKind::kConvolution, {x, weight}, std::move(shape),
                     std::move(attrs));
}

Value ConvolutionBackward(Device* d, const Value& grad, const Value& x,
                          const Value& weight, WindowAttrs attrs) {
  return d->MakeNode(OpKind::kConvolutionBackward, {grad, x, weight},
                     std::vector<TensorShape>{
                         x.shape(), weight.shape(),
                         TensorShape(grad.type(), {weight.shape().dim(3)})},
                     std::move(attrs));
}

Value MaxPool(Device* d, const Value& x, WindowAttrs attrs) {
  TensorShape shape(x.type(), {x.shape().dim(0), Positions(x, 0, attrs),
                               Positions(x, 1, attrs), x.shape().dim(3)});
  return d->MakeNode(OpKind::kMaxPool, {x}, std::move(shape), std::move(attrs));
}

Value MaxPoolBackward(Device* d, const Value& grad, const Value& x,
                      WindowAttrs attrs) {
  return d->MakeNode(OpKind::kMaxPoolBackward, {grad, x}, x.shape(),
                     std::move(attrs));
}

}  // namespace ptxla::lazy::ir
