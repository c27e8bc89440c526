#include <utility>

#include "base/check.h"
#include "lazy/autocast.h"
#include "lazy/grad_fn.h"
#include "lazy/ir.h"
#include "lazy/ops.h"

namespace ptxla::lazy::ops {
namespace {

Tensor Mm(const Tensor& a, const Tensor& b) {
  Device* d = a.device();
  Tensor y = Tensor::FromValue(d, ir::Mm(d, a.ir(), b.ir()));
  RecordGrad({y}, {a, b}, [a, b](const GradCall& g) -> GradList {
    return {g.needs(0) ? Mm(g.grad(0), T(b)) : Tensor(),
            g.needs(1) ? Mm(T(a), g.grad(0)) : Tensor()};
  });
  return y;
}

Tensor Addmm(const Tensor& bias, const Tensor& a, const Tensor& b) {
  Device* d = a.device();
  Tensor y = Tensor::FromValue(d, ir::Addmm(d, a.ir(), b.ir(), bias.ir()));
  RecordGrad({y}, {bias, a, b}, [a, b](const GradCall& g) -> GradList {
    return {g.grad(0),  // summed over rows by the engine
            g.needs(1) ? Mm(g.grad(0), T(b)) : Tensor(),
            g.needs(2) ? Mm(T(a), g.grad(0)) : Tensor()};
  });
  return y;
}

// [n, m, k] x [n, k, p].
Tensor Bmm(const Tensor& a, const Tensor& b) {
  Device* d = a.device();
  Tensor y = Tensor::FromValue(d, ir::Matmul(d, a.ir(), b.ir()));
  RecordGrad({y}, {a, b}, [a, b](const GradCall& g) -> GradList {
    return {g.needs(0) ? Bmm(g.grad(0), Transpose(b, 1, 2)) : Tensor(),
            g.needs(1) ? Bmm(Transpose(a, 1, 2), g.grad(0)) : Tensor()};
  });
  return y;
}

DimVector WithLast(DimVector dims, int64_t last) {
  dims.back() = last;
  return dims;
}

// at::matmul after autocast.
Tensor MatmulAsIs(const Tensor& a, const Tensor& b) {
  if (b.rank() == 2) {
    if (a.rank() == 2) return Mm(a, b);
    const Tensor rows = View(a, {-1, a.dim(-1)});
    return Reshape(Mm(rows, b), WithLast(a.dims(), b.dim(1)));
  }
  CHECK(a.rank() == 4 && b.rank() == 4)
      << "matmul of ranks " << a.rank() << " and " << b.rank();
  const int64_t batch = a.dim(0) * a.dim(1);
  const Tensor x = Reshape(Expand(a, a.dims()), {batch, a.dim(2), a.dim(3)});
  const Tensor y = Reshape(Expand(b, b.dims()), {batch, b.dim(2), b.dim(3)});
  return Reshape(Bmm(x, y), WithLast(a.dims(), b.dim(3)));
}

}  // namespace

Tensor Matmul(const Tensor& a, const Tensor& b) {
  // Autocast's arguments are cast from the last to the first: that is the order
  // in which GCC evaluates the arguments of PyTorch's wrapper.
  const Tensor y = AutocastToBf16(b);
  const Tensor x = AutocastToBf16(a);
  return MatmulAsIs(x, y);
}

Tensor Linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const Tensor b = bias.defined() ? AutocastToBf16(bias) : bias;
  const Tensor w = AutocastToBf16(weight);
  const Tensor a = AutocastToBf16(x);
  if (a.rank() == 2 && b.defined()) return Addmm(b, a, T(w));
  const Tensor y = MatmulAsIs(a, T(w));
  return b.defined() ? Add(y, b) : y;
}

}  // namespace ptxla::lazy::ops
