#include <utility>

#include "base/check.h"
#include "lazy/grad_fn.h"
#include "lazy/ir.h"
#include "lazy/ops.h"

namespace ptxla::lazy::ops {
namespace {

DimVector Resolve(const Tensor& x, DimVector dims) {
  int64_t known = 1;
  int64_t* open = nullptr;
  for (int64_t& d : dims) {
    if (d == -1) {
      open = &d;
    } else {
      known *= d;
    }
  }
  if (open) *open = x.shape().ElementCount() / known;
  return dims;
}

// A view: the result knows its base.
Tensor OneStep(const Tensor& x, OpKind kind, DimVector dims,
               DimVector limits = {}) {
  return TensorInternals::MakeView(
      x, {{kind, std::move(dims), std::move(limits)}});
}

}  // namespace

Tensor Cast(const Tensor& x, PrimitiveType type) {
  if (x.type() == type) return x;
  Device* d = x.device();
  Tensor y = Tensor::FromValue(d, ir::Cast(d, x.ir(), type));
  RecordGrad({y}, {x}, [from = x.type()](const GradCall& g) -> GradList {
    return {Cast(g.grad(0), from)};
  });
  return y;
}

Tensor View(const Tensor& x, DimVector dims) {
  Tensor y = OneStep(x, OpKind::kView, Resolve(x, std::move(dims)));
  RecordGrad({y}, {x}, [from = x.dims()](const GradCall& g) -> GradList {
    return {Reshape(g.grad(0), from)};
  });
  return y;
}

Tensor Reshape(const Tensor& x, DimVector dims) {
  Device* d = x.device();
  Tensor y =
      Tensor::FromValue(d, ir::View(d, x.ir(), Resolve(x, std::move(dims))));
  RecordGrad({y}, {x}, [from = x.dims()](const GradCall& g) -> GradList {
    return {Reshape(g.grad(0), from)};
  });
  return y;
}

Tensor Permute(const Tensor& x, DimVector permutation) {
  DimVector inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) inverse[permutation[i]] = i;
  Tensor y = OneStep(x, OpKind::kPermute, std::move(permutation));
  RecordGrad({y}, {x}, [inverse](const GradCall& g) -> GradList {
    return {Permute(g.grad(0), inverse)};
  });
  return y;
}

Tensor Transpose(const Tensor& x, int a, int b) {
  DimVector permutation(x.rank());
  for (int i = 0; i < x.rank(); ++i) permutation[i] = i;
  std::swap(permutation[a < 0 ? a + x.rank() : a],
            permutation[b < 0 ? b + x.rank() : b]);
  return Permute(x, std::move(permutation));
}

Tensor T(const Tensor& x) {
  CHECK_EQ(x.rank(), 2);
  return Permute(x, {1, 0});
}

Tensor Expand(const Tensor& x, DimVector dims) {
  Tensor y = OneStep(x, OpKind::kExpand, std::move(dims));
  RecordGrad({y}, {x}, [](const GradCall& g) -> GradList {
    return {g.grad(0)};  // summed to the input's shape by the engine
  });
  return y;
}

Tensor Slice(const Tensor& x, int dim, int64_t start, int64_t end) {
  CHECK(0 <= start && start < end && end <= x.dim(dim));
  DimVector starts(x.rank(), 0), limits = x.dims();
  starts[dim] = start;
  limits[dim] = end;
  Tensor y = OneStep(x, OpKind::kSelect, starts, limits);
  RecordGrad(
      {y}, {x},
      [from = x.shape().RowMajor(), starts](const GradCall& g) -> GradList {
        Device* d = g.grad(0).device();
        Value zeros = ir::Full(d, 0, from);
        return {Tensor::FromValue(
            d, ir::UpdateSlice(d, zeros, g.grad(0).ir(), starts))};
      });
  return y;
}

Tensor Index(const Tensor& x, int dim, int64_t index) {
  DimVector starts(x.rank(), 0), limits = x.dims(), dims = x.dims();
  starts[dim] = index;
  limits[dim] = index + 1;
  DimVector kept = dims;
  kept[dim] = 1;
  dims.erase(dims.begin() + dim);
  Tensor y = TensorInternals::MakeView(
      x, {{OpKind::kGenericSlice, starts, limits}, {OpKind::kView, dims, {}}});
  RecordGrad(
      {y}, {x},
      [from = x.shape().RowMajor(), starts,
       kept](const GradCall& g) -> GradList {
        Device* d = g.grad(0).device();
        Value zeros = ir::Full(d, 0, from);
        Value row = ir::View(d, g.grad(0).ir(), kept);
        return {Tensor::FromValue(d, ir::UpdateSlice(d, zeros, row, starts))};
      });
  return y;
}

Tensor SumTo(const Tensor& x, const DimVector& dims) {
  const int missing = x.rank() - static_cast<int>(dims.size());
  CHECK_GE(missing, 0);
  DimVector summed;
  for (int i = 0; i < x.rank(); ++i) {
    if (i < missing || (dims[i - missing] == 1 && x.dim(i) != 1)) {
      summed.push_back(i);
    }
  }
  Tensor y = summed.empty() ? x : Sum(x, summed, /*keepdim=*/true);
  return missing > 0 ? View(y, dims) : y;
}

Tensor Zeros(Device* device, const TensorShape& shape) {
  return Tensor::FromValue(device, ir::Full(device, 0, shape));
}

}  // namespace ptxla::lazy::ops
