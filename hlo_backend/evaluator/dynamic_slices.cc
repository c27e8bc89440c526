#include <algorithm>

#include "hlo_backend/evaluator/operations.h"
#include "hlo_backend/evaluator/strided.h"

namespace ptxla::hlo {
namespace {

// The start indices, scalars or one vector of them, moved so that a box of
// `size` lies inside `dims`.
DimVector ClampedStarts(absl::Span<const Value> starts,
                        absl::Span<const int64_t> dims,
                        absl::Span<const int64_t> size) {
  DimVector clamped;
  const bool vector = starts.size() == 1 && starts[0].shape().rank() == 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    const Value& from = vector ? starts[0] : starts[d];
    int64_t start = from.Integer(vector ? static_cast<int64_t>(d) : 0);
    if (from.type() == PrimitiveType::kU64 && start < 0) start = dims[d];
    clamped.push_back(std::max<int64_t>(0, std::min(start, dims[d] - size[d])));
  }
  return clamped;
}

}  // namespace

absl::StatusOr<Value> EvalDynamicSlice(OpContext&, const Instruction& i,
                                       absl::Span<Value> operands) {
  const Value& x = operands[0];
  if (x.IsSplat()) return Value::NewSplat(ShapeOf(i), x.data());
  const DimVector starts =
      ClampedStarts(operands.subspan(1), x.shape().dims(), i.shape().dims());
  const DimVector strides = RowMajorStrides(x.shape().dims());
  Value out = Value::NewArray(ShapeOf(i));
  CopyBox(i.shape().dims(), out.Mutable(), RowMajorStrides(i.shape().dims()),
          x.data() + Dot(starts, strides) * x.element_bytes(), strides,
          x.element_bytes());
  return out;
}

absl::StatusOr<Value> EvalDynamicUpdateSlice(OpContext&, const Instruction& i,
                                             absl::Span<Value> operands) {
  Value out = std::move(operands[0]);
  const Value& update = operands[1];
  const DimVector starts = ClampedStarts(
      operands.subspan(2), out.shape().dims(), update.shape().dims());
  const DimVector strides = RowMajorStrides(out.shape().dims());
  const DimVector from = update.IsSplat()
                             ? DimVector(strides.size(), 0)
                             : RowMajorStrides(update.shape().dims());
  CopyBox(update.shape().dims(),
          out.Mutable() + Dot(starts, strides) * out.element_bytes(), strides,
          update.data(), from, update.element_bytes());
  return out.WithShape(ShapeOf(i));
}

}  // namespace ptxla::hlo
