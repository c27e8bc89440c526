#include "lazy/ir.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "base/check.h"

namespace ptxla::lazy::ir {
namespace {

// An elementwise operation keeps its first operand's layout when no operand
// broadcasts; a broadcast one is row-major.
TensorShape Elementwise(const TensorShape& a, const TensorShape& b,
                        PrimitiveType type) {
  if (a.SameDims(b)) return a.WithType(type);
  return TensorShape(type, BroadcastDims(a.dims(), b.dims()));
}

Value Binary(Device* d, OpKind kind, const Value& a, const Value& b) {
  return d->MakeNode(
      kind, {a, b},
      Elementwise(a.shape(), b.shape(), PromoteTypes(a.type(), b.type())));
}

Value Comparison(Device* d, OpKind kind, const Value& a, const Value& b) {
  return d->MakeNode(kind, {a, b},
                     Elementwise(a.shape(), b.shape(), PrimitiveType::kPred));
}

// x + (something of t1 and t2).
Value Ternary(Device* d, OpKind kind, const Value& x, const Value& t1,
              const Value& t2, const Value& value) {
  const TensorShape inner =
      Elementwise(t1.shape(), t2.shape(), PromoteTypes(t1.type(), t2.type()));
  const PrimitiveType type = PromoteTypes(x.type(), inner.type());
  return d->MakeNode(kind, {x, t1, t2, value},
                     Elementwise(x.shape(), inner, type));
}

// What is left of `dims` when some of them are reduced.
DimVector DimsWithout(const DimVector& dims, const DimVector& reduced,
                      bool keepdim) {
  DimVector result;
  for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i) {
    const bool gone = absl::c_linear_search(reduced, i);
    if (!gone || keepdim) result.push_back(gone ? 1 : dims[i]);
  }
  return result;
}

}  // namespace

Value Cast(Device* d, const Value& x, PrimitiveType type) {
  return d->MakeNode(OpKind::kCast, {x}, x.shape().WithType(type));
}

Value View(Device* d, const Value& x, DimVector dims) {
  TensorShape shape(x.type(), dims);
  CHECK_EQ(shape.ElementCount(), x.shape().ElementCount());
  return d->MakeNode(OpKind::kView, {x}, std::move(shape),
                     DimsAttrs{std::move(dims)});
}

Value Permute(Device* d, const Value& x, DimVector permutation) {
  TensorShape shape = x.shape().Transposed(permutation);
  return d->MakeNode(OpKind::kPermute, {x}, std::move(shape),
                     DimsAttrs{std::move(permutation)});
}

Value Expand(Device* d, const Value& x, DimVector dims) {
  TensorShape shape(x.type(), dims);
  return d->MakeNode(OpKind::kExpand, {x}, std::move(shape),
                     DimsAttrs{std::move(dims)});
}

Value Full(Device* d, double value, const TensorShape& shape) {
  return Expand(d, d->Constant(value, shape.type()), shape.dims());
}

Value Select(Device* d, const Value& x, int dim, int64_t start, int64_t end) {
  DimVector starts(x.shape().rank(), 0), limits = x.shape().dims();
  starts[dim] = start;
  limits[dim] = end;
  DimVector dims = x.shape().dims();
  dims[dim] = end - start;
  return d->MakeNode(OpKind::kSelect, {x}, TensorShape(x.type(), dims),
                     SliceAttrs{starts, limits});
}

Value GenericSlice(Device* d, const Value& x, DimVector starts,
                   DimVector limits) {
  DimVector dims(starts.size());
  for (size_t i = 0; i < dims.size(); ++i) dims[i] = limits[i] - starts[i];
  return d->MakeNode(OpKind::kGenericSlice, {x}, TensorShape(x.type(), dims),
                     SliceAttrs{std::move(starts), std::move(limits)});
}

Value UpdateSlice(Device* d, const Value& x, const Value& update,
                  DimVector starts) {
  return d->MakeNode(OpKind::kUpdateSlice, {x, update}, x.shape(),
                     SliceAttrs{std::move(starts), {}});
}

Value Unselect(Device* d, const Value& x, const Value& update, DimVector starts,
               DimVector limits) {
  return d->MakeNode(OpKind::kUnselect, {x, update}, x.shape().RowMajor(),
                     SliceAttrs{std::move(starts), std::move(limits)});
}

Value Stack(Device* d, const Value& x, int dim) {
  DimVector dims = x.shape().dims();
  dims.insert(dims.begin() + dim, 1);
  return d->MakeNode(OpKind::kStack, {x}, TensorShape(x.type(), dims),
                     DimsAttrs{{dim}});
}

Value Unary(Device* d, OpKind kind, const Value& x) {
  return d->MakeNode(kind, {x}, x.shape());
}

Value Add(Device* d, const Value& a, const Value& b, const Value& alpha) {
  if (!alpha) return Binary(d, OpKind::kAdd, a, b);
  return d->MakeNode(
      OpKind::kAdd, {a, b, alpha},
      Elementwise(a.shape(), b.shape(), PromoteTypes(a.type(), b.type())));
}

Value Rsub(Device* d, const Value& x, const Value& other, const Value& alpha) {
  return d->MakeNode(OpKind::kRsub, {x, other, alpha}, x.shape().RowMajor());
}

Value Mul(Device* d, const Value& a, const Value& b) {
  return Binary(d, OpKind::kMul, a, b);
}

Value Div(Device* d, const Value& a, const Value& b) {
  return Binary(d, OpKind::kDiv, a, b);
}

Value Pow(Device* d, const Value& x, const Value& exponent) {
  return Binary(d, OpKind::kPow, x, exponent);
}

Value Ne(Device* d, const Value& a, const Value& b) {
  return Comparison(d, OpKind::kNe, a, b);
}

Value Lt(Device* d, const Value& a, const Value& b) {
  return Comparison(d, OpKind::kLt, a, b);
}

Value Where(Device* d, const Value& condition, const Value& a, const Value& b) {
  CHECK(condition.shape().SameDims(a.shape()) && a.shape().SameDims(b.shape()));
  return d->MakeNode(OpKind::kWhere, {condition, a, b},
                     condition.shape().WithType(a.type()));
}

Value Addcmul(Device* d, const Value& x, const Value& t1, const Value& t2,
              const Value& value) {
  return Ternary(d, OpKind::kAddcmul, x, t1, t2, value);
}

Value Addcdiv(Device* d, const Value& x, const Value& t1, const Value& t2,
              const Value& value) {
  return Ternary(d, OpKind::kAddcdiv, x, t1, t2, value);
}

Value Lerp(Device* d, const Value& start, const Value& end,
           const Value& weight) {
  return d->MakeNode(OpKind::kLerp, {start, end, weight}, start.shape());
}

Value ThresholdBackward(Device* d, const Value& grad, const Value& result) {
  return d->MakeNode(OpKind::kThresholdBackward, {grad, result},
                     result.shape());
}

Value GeluBackward(Device* d, const Value& grad, const Value& x) {
  return d->MakeNode(OpKind::kGeluBackward, {grad, x}, grad.shape());
}

Value Bernoulli(Device* d, const Value& probability, const Value& seed) {
  return d->MakeNode(OpKind::kBernoulli, {probability, seed},
                     probability.shape());
}

Value Sum(Device* d, const Value& x, DimVector dims, bool keepdim) {
  TensorShape shape(x.type(), DimsWithout(x.shape().dims(), dims, keepdim));
  return d->MakeNode(OpKind::kSum, {x}, std::move(shape),
                     DimsAttrs{std::move(dims), keepdim});
}

Value Softmax(Device* d, const Value& x, int dim) {
  return d->MakeNode(OpKind::kSoftmax, {x}, x.shape().RowMajor(),
                     DimsAttrs{{dim}});
}

Value SoftmaxBackward(Device* d, const Value& grad, const Value& result,
                      int dim) {
  return d->MakeNode(OpKind::kSoftmaxBackward, {grad, result},
                     grad.shape().RowMajor(), DimsAttrs{{dim}});
}

Value LogSoftmax(Device* d, const Value& x, int dim) {
  return d->MakeNode(OpKind::kLogSoftmax, {x}, x.shape().RowMajor(),
                     DimsAttrs{{dim}});
}

Value LogSoftmaxBackward(Device* d, const Value& grad, const Value& result,
                         int dim) {
  return d->MakeNode(OpKind::kLogSoftmaxBackward, {grad, result},
                     grad.shape().RowMajor(), DimsAttrs{{dim}});
}

Value NllLoss(Device* d, const Value& log_p, const Value& labels,
              int64_t ignore_index) {
  return d->MakeNode(OpKind::kNllLoss, {log_p, labels},
                     TensorShape(log_p.type(), {}), NllLossAttrs{ignore_index});
}

Value NllLossBackward(Device* d, const Value& grad, const Value& log_p,
                      const Value& labels, int64_t ignore_index) {
  return d->MakeNode(OpKind::kNllLossBackward, {grad, log_p, labels},
                     log_p.shape().RowMajor(), NllLossAttrs{ignore_index});
}

Value NativeBatchNorm(Device* d, const Value& x, const Value& weight,
                      const Value& bias, const Value& running_mean,
                      const Value& running_var, BatchNormAttrs attrs) {
  const TensorShape& per_feature = weight.shape();
  return d->MakeNode(OpKind::kNativeBatchNorm,
                     {x, weight, bias, running_mean, running_var},
                     std::vector<TensorShape>{x.shape(), per_feature,
                                              per_feature, per_feature},
                     attrs);
}

Value NativeBatchNormBackward(Device* d, const Value& grad, const Value& x,
                              const Value& weight, const Value& mean,
                              const Value& inverse_std, BatchNormAttrs attrs) {
  const TensorShape& per_feature = weight.shape();
  return d->MakeNode(
      OpKind::kNativeBatchNormBackward, {grad, x, weight, mean, inverse_std},
      std::vector<TensorShape>{x.shape(), per_feature, per_feature}, attrs);
}

Value Mean(Device* d, const Value& x, DimVector dims, bool keepdim) {
  TensorShape shape(x.type(), DimsWithout(x.shape().dims(), dims, keepdim));
  return d->MakeNode(OpKind::kMean, {x}, std::move(shape),
                     DimsAttrs{std::move(dims), keepdim});
}

Value MovingAverage(Device* d, const Value& fresh, const Value& running,
                    double share) {
  return d->MakeNode(OpKind::kMovingAverage, {fresh, running}, running.shape(),
                     ConstantAttrs{share});
}

Value Mm(Device* d, const Value& a, const Value& b) {
  CHECK_EQ(a.shape().dim(1), b.shape().dim(0));
  return d->MakeNode(
      OpKind::kMm, {a, b},
      TensorShape(a.type(), {a.shape().dim(0), b.shape().dim(1)}));
}

Value Matmul(Device* d, const Value& a, const Value& b) {
  CHECK_EQ(a.shape().dim(0), b.shape().dim(0));
  CHECK_EQ(a.shape().dim(2), b.shape().dim(1));
  return d->MakeNode(OpKind::kMatmul, {a, b},
                     TensorShape(a.type(), {a.shape().dim(0), a.shape().dim(1),
                                            b.shape().dim(2)}));
}

Value Addmm(Device* d, const Value& a, const Value& b, const Value& bias) {
  CHECK_EQ(a.shape().dim(1), b.shape().dim(0));
  return d->MakeNode(
      OpKind::kAddmm, {a, b, bias},
      TensorShape(a.type(), {a.shape().dim(0), b.shape().dim(1)}));
}

Value IndexSelect(Device* d, const Value& x, const Value& indices) {
  DimVector dims = x.shape().dims();
  dims[0] = indices.shape().dim(0);
  return d->MakeNode(OpKind::kIndexSelect, {x, indices},
                     TensorShape(x.type(), dims), DimsAttrs{{0}});
}

Value IndexPut(Device* d, const Value& base, const Value& indices,
               const Value& values) {
  return d->MakeNode(OpKind::kIndexPut, {base, indices, values}, base.shape());
}

Value CrossReplicaSum(Device* d, absl::Span<const Value> tensors,
                      const Value& token, CollectiveAttrs attrs) {
  Node::Operands operands(tensors.begin(), tensors.end());
  operands.push_back(token);
  std::vector<TensorShape> shapes;
  shapes.reserve(operands.size());
  for (const Value& operand : operands) shapes.push_back(operand.shape());
  return d->MakeNode(OpKind::kCrossReplicaSum, std::move(operands),
                     std::move(shapes), std::move(attrs));
}

}  // namespace ptxla::lazy::ir
