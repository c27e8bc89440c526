#include "hlo_backend/evaluator/value_parts.h"

#include "hlo_backend/evaluator/strided.h"

namespace ptxla::hlo {

Value PartOf(const Value& x, const DimVector& starts, const DimVector& sizes) {
  Shape shape = Shape::Array(x.type(), sizes);
  if (x.IsSplat()) return Value::NewSplat(shape, x.data());
  const DimVector strides = RowMajorStrides(x.shape().dims());
  Value out = Value::NewArray(shape);
  CopyBox(sizes, out.Mutable(), RowMajorStrides(sizes),
          x.data() + Dot(starts, strides) * x.element_bytes(), strides,
          x.element_bytes());
  return out;
}

Value PartAlong(const Value& x, int64_t d, int64_t begin, int64_t end) {
  DimVector starts(x.shape().rank(), 0);
  DimVector sizes = x.shape().dims();
  starts[d] = begin;
  sizes[d] = end - begin;
  return PartOf(x, starts, sizes);
}

void PutPart(const Value& part, const DimVector& starts, Value* whole) {
  const DimVector strides = RowMajorStrides(whole->shape().dims());
  const DimVector& sizes = part.shape().dims();
  const DimVector from =
      part.IsSplat() ? DimVector(sizes.size(), 0) : RowMajorStrides(sizes);
  CopyBox(sizes,
          whole->Mutable() + Dot(starts, strides) * whole->element_bytes(),
          strides, part.data(), from, part.element_bytes());
}

Value WithoutDim(const Value& x, int64_t d, int64_t at) {
  const Value part = PartAlong(x, d, at, at + 1);
  DimVector dims = part.shape().dims();
  dims.erase(dims.begin() + d);
  return part.WithShape(Shape::Array(x.type(), dims));
}

}  // namespace ptxla::hlo
