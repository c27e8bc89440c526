#include <utility>

#include "lazy/ir.h"
#include "lazy/ops.h"

namespace ptxla::lazy::ops {

constexpr PrimitiveType kF64 = PrimitiveType::kF64;

void MulInPlace(const Tensor& x, double factor) {
  Device* d = x.device();
  x.Update(ir::Mul(d, x.ir(), d->Scalar(factor, x.type())));
}

void AddInPlace(const Tensor& x, const Tensor& y, double alpha) {
  Device* d = x.device();
  x.Update(ir::Add(d, x.ir(), y.ir(), d->Scalar(alpha, x.type())));
}

void AddInPlace(const Tensor& x, double addend) {
  x.Update(AddScalar(x, addend).ir());
}

void ZeroInPlace(const Tensor& x) {
  x.Update(ir::Full(x.device(), 0, x.shape().RowMajor()));
}

void LerpInPlace(const Tensor& x, const Tensor& end, double weight) {
  Device* d = x.device();
  x.Update(ir::Lerp(d, x.ir(), end.ir(), d->Scalar(weight, x.type())));
}

void AddcmulInPlace(const Tensor& x, const Tensor& t1, const Tensor& t2,
                    double value) {
  Device* d = x.device();
  x.Update(ir::Addcmul(d, x.ir(), t1.ir(), t2.ir(), d->Scalar(value, kF64)));
}

void AddcdivInPlace(const Tensor& x, const Tensor& t1, const Tensor& t2,
                    double value) {
  Device* d = x.device();
  x.Update(ir::Addcdiv(d, x.ir(), t1.ir(), t2.ir(), d->Scalar(value, kF64)));
}

Tensor Sqrt(const Tensor& x) {
  Device* d = x.device();
  return Tensor::FromValue(d, ir::Unary(d, OpKind::kSqrt, x.ir()));
}

Tensor DivScalar(const Tensor& x, double divisor) {
  Device* d = x.device();
  return Tensor::FromValue(d, ir::Div(d, x.ir(), d->Scalar(divisor, x.type())));
}

Tensor AddScalar(const Tensor& x, double addend) {
  Device* d = x.device();
  return Tensor::FromValue(d, ir::Add(d, x.ir(), d->Scalar(addend, x.type()),
                                      d->Constant(1, x.type())));
}

}  // namespace ptxla::lazy::ops
