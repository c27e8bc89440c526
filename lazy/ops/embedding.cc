#include <utility>

#include "base/check.h"
#include "lazy/grad_fn.h"
#include "lazy/ir.h"
#include "lazy/ops.h"

namespace ptxla::lazy::ops {
namespace {

constexpr PrimitiveType kS64 = PrimitiveType::kS64;

// torch_xla's embedding_dense_backward: gradients of padding rows become 0,
// negative indices count from the end, then all rows are added into zeros.
Value EmbeddingGrad(Device* d, const Value& grad, const Value& indices,
                    const TensorShape& weight, int64_t padding_idx) {
  const int64_t rows = indices.shape().ElementCount();
  const int64_t width = weight.dim(1);
  const TensorShape grad_shape(grad.type(), {rows, width});
  const Value zero_rows = ir::Full(d, 0, grad_shape);
  const Value flat_grad = ir::View(d, grad, grad_shape.dims());
  const Value flat = ir::View(d, indices, {rows});
  Value counts = ir::Ne(d, flat, d->Constant(padding_idx, kS64));
  counts = ir::Expand(d, ir::View(d, counts, {rows, 1}), grad_shape.dims());
  const Value kept = ir::Where(d, counts, flat_grad, zero_rows);
  const Value size = ir::Expand(
      d, d->Scalar(static_cast<double>(weight.dim(0)), kS64), {rows});
  const Value from_end = ir::Add(d, flat, size);
  const Value negative = ir::Lt(d, flat, d->Constant(0, kS64));
  const Value wrapped = ir::Where(d, negative, from_end, flat);
  const Value positions = ir::Stack(d, wrapped, 1);
  const Value zeros = ir::Full(d, 0, TensorShape(grad.type(), weight.dims()));
  return ir::Permute(d, ir::IndexPut(d, zeros, positions, kept), {0, 1});
}

}  // namespace

Tensor Embedding(const Tensor& weight, const Tensor& indices,
                 int64_t padding_idx) {
  CHECK_EQ(weight.rank(), 2);
  Device* d = weight.device();
  const Value flat =
      ir::View(d, indices.ir(), {indices.shape().ElementCount()});
  const Value rows = ir::IndexSelect(d, weight.ir(), flat);
  DimVector dims = indices.dims();
  dims.push_back(weight.dim(1));
  Tensor y = Tensor::FromValue(d, ir::View(d, rows, std::move(dims)));
  RecordGrad({y}, {weight},
             [indices, shape = weight.shape(),
              padding_idx](const GradCall& g) -> GradList {
               Device* d = indices.device();
               return {Tensor::FromValue(
                   d, EmbeddingGrad(d, g.grad(0).ir(), indices.ir(), shape,
                                    padding_idx))};
             });
  return y;
}

}  // namespace ptxla::lazy::ops
