#include "hlo_backend/passes/layout/dimension_order.h"

#include "hlo_backend/passes/dimension_utils.h"

namespace ptxla::hlo {

DimVector OrderOf(const Shape& shape) {
  const DimVector& m = shape.layout().minor_to_major;
  return DimVector(m.rbegin(), m.rend());
}

DimVector Inverse(absl::Span<const int64_t> order) {
  DimVector inverse(order.size());
  for (size_t k = 0; k < order.size(); ++k) {
    inverse[order[k]] = static_cast<int64_t>(k);
  }
  return inverse;
}

DimVector PlacesOf(const Shape& shape) { return Inverse(OrderOf(shape)); }

bool HasOrder(const Shape& shape) {
  return shape.IsArray() && shape.has_layout() && !shape.HasDynamicDims();
}

Shape RowMajorOf(const Shape& shape) {
  Shape normal =
      Shape::Array(shape.type(), Permuted(shape.dims(), OrderOf(shape)));
  Layout layout = shape.layout();
  layout.minor_to_major = Layout::RowMajor(shape.rank()).minor_to_major;
  normal.set_layout(layout);
  return normal;
}

}  // namespace ptxla::hlo
