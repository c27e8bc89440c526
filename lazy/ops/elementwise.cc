#include <utility>

#include "lazy/grad_fn.h"
#include "lazy/ir.h"
#include "lazy/ops.h"

namespace ptxla::lazy::ops {
namespace {

constexpr PrimitiveType kF32 = PrimitiveType::kF32;

// The type that PyTorch computes products and quotients in.
PrimitiveType OpMathType(PrimitiveType type) {
  const bool half = type == PrimitiveType::kBf16 || type == PrimitiveType::kF16;
  return half ? kF32 : type;
}

Value CastIfNeeded(Device* d, const Value& x, PrimitiveType type) {
  return x.type() == type ? x : ir::Cast(d, x, type);
}

// aten::mul(Tensor, Scalar), which PyTorch's derivatives use: no detour
// through f32.
Tensor MulPlain(const Tensor& x, double factor) {
  Device* d = x.device();
  return Tensor::FromValue(d, ir::Mul(d, x.ir(), d->Scalar(factor, x.type())));
}

}  // namespace

Tensor Add(const Tensor& a, const Tensor& b, double alpha) {
  Device* d = a.device();
  const PrimitiveType type = PromoteTypes(a.type(), b.type());
  Tensor y =
      Tensor::FromValue(d, ir::Add(d, a.ir(), b.ir(), d->Scalar(alpha, type)));
  RecordGrad({y}, {a, b}, [alpha](const GradCall& g) -> GradList {
    return {g.grad(0), alpha == 1 ? g.grad(0) : Mul(g.grad(0), alpha)};
  });
  return y;
}

Tensor Mul(const Tensor& a, const Tensor& b) {
  Device* d = a.device();
  const PrimitiveType type = PromoteTypes(a.type(), b.type());
  const PrimitiveType math = OpMathType(type);
  const Value x = CastIfNeeded(d, a.ir(), math);
  const Value z = CastIfNeeded(d, b.ir(), math);
  Tensor y = Tensor::FromValue(d, CastIfNeeded(d, ir::Mul(d, x, z), type));
  RecordGrad({y}, {a, b}, [a, b](const GradCall& g) -> GradList {
    return {g.needs(0) ? Mul(g.grad(0), b) : Tensor(),
            g.needs(1) ? Mul(g.grad(0), a) : Tensor()};
  });
  return y;
}

Tensor Mul(const Tensor& x, double factor) {
  Device* d = x.device();
  const PrimitiveType math = OpMathType(x.type());
  const Value wide = CastIfNeeded(d, x.ir(), math);
  const Value product = ir::Mul(d, wide, d->Scalar(factor, math));
  Tensor y = Tensor::FromValue(d, CastIfNeeded(d, product, x.type()));
  RecordGrad({y}, {x}, [factor](const GradCall& g) -> GradList {
    return {Mul(g.grad(0), factor)};
  });
  return y;
}

Tensor RsubScalar(double a, const Tensor& x) {
  Device* d = x.device();
  Tensor y = Tensor::FromValue(
      d, ir::Rsub(d, x.ir(), d->Scalar(a, x.type()), d->Scalar(1, x.type())));
  RecordGrad({y}, {x}, [](const GradCall& g) -> GradList {
    return {Mul(g.grad(0), -1)};
  });
  return y;
}

Tensor Relu(const Tensor& x) {
  Device* d = x.device();
  Tensor y = Tensor::FromValue(d, ir::Unary(d, OpKind::kRelu, x.ir()));
  RecordGrad({y}, {x}, [result = y.Detach()](const GradCall& g) -> GradList {
    Device* d = result.device();
    return {Tensor::FromValue(
        d, ir::ThresholdBackward(d, g.grad(0).ir(), result.ir()))};
  });
  return y;
}

Tensor Tanh(const Tensor& x) {
  Device* d = x.device();
  Tensor y = Tensor::FromValue(d, ir::Unary(d, OpKind::kTanh, x.ir()));
  RecordGrad({y}, {x}, [result = y.Detach()](const GradCall& g) -> GradList {
    // grad * (1 - result^2)
    Device* d = result.device();
    const PrimitiveType type = result.type();
    Value square = ir::Pow(d, result.ir(), d->Constant(2, type));
    Value slope =
        ir::Rsub(d, square, d->Constant(1, type), d->Constant(1, type));
    return {Tensor::FromValue(d, ir::Mul(d, g.grad(0).ir(), slope))};
  });
  return y;
}

Tensor Gelu(const Tensor& x) {
  Device* d = x.device();
  Tensor y = Tensor::FromValue(d, ir::Unary(d, OpKind::kGelu, x.ir()));
  RecordGrad({y}, {x}, [x](const GradCall& g) -> GradList {
    Device* d = x.device();
    return {Tensor::FromValue(d, ir::GeluBackward(d, g.grad(0).ir(), x.ir()))};
  });
  return y;
}

Tensor Addcmul(const Tensor& bias, const Tensor& x, const Tensor& weight) {
  Device* d = x.device();
  Tensor y =
      Tensor::FromValue(d, ir::Addcmul(d, bias.ir(), x.ir(), weight.ir(),
                                       d->Constant(1, PrimitiveType::kS64)));
  RecordGrad({y}, {bias, x, weight},
             [x, weight](const GradCall& g) -> GradList {
               GradList grads = {g.grad(0), Tensor(), Tensor()};
               if (g.needs(1)) grads[1] = Mul(g.grad(0), MulPlain(weight, 1));
               if (g.needs(2)) grads[2] = Mul(g.grad(0), MulPlain(x, 1));
               return grads;
             });
  return y;
}

Tensor Dropout(const Tensor& x, double p) {
  if (p == 0) return x;
  Device* d = x.device();
  const double keep = 1 - p;
  const Value probability = ir::Expand(d, d->Scalar(keep, x.type()), x.dims());
  Value mask = ir::Bernoulli(d, probability, d->NextSeed());
  // mask.div_(keep): the in-place division goes through f32 and back, whatever
  // the type.
  mask = ir::Div(d, ir::Cast(d, mask, kF32), d->Scalar(keep, kF32));
  mask = ir::Cast(d, mask, x.type());
  return Mul(x, Tensor::FromValue(d, std::move(mask)));
}

}  // namespace ptxla::lazy::ops
