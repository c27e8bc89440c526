// What several layers ask about dimensions and their order in memory.
//
//   Contains(dot.lhs_batch, 0), Product(shape.dims())
//   IsRowMajor(i.shape())     // f32[8,128]{1,0}, and f32[8,128] as well
#ifndef PTXLA_HLO_BACKEND_IR_DIMENSIONS_H_
#define PTXLA_HLO_BACKEND_IR_DIMENSIONS_H_

#include <algorithm>
#include <cstdint>

#include "absl/types/span.h"
#include "hlo_backend/ir/shape.h"

namespace ptxla::hlo {

inline bool Contains(absl::Span<const int64_t> list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// Not saturated, unlike Shape::ElementCount().
inline int64_t Product(absl::Span<const int64_t> dims) {
  int64_t product = 1;
  for (int64_t d : dims) product *= d;
  return product;
}

// An array whose dimensions lie in their order, or whose order is not chosen.
inline bool IsRowMajor(const Shape& shape) {
  return shape.IsArray() &&
         (!shape.has_layout() || shape.layout().IsRowMajor());
}

inline bool HasTiles(const Shape& shape) {
  return shape.has_layout() && !shape.layout().tiles.empty();
}

inline Shape WithoutLayout(Shape shape) {
  shape.clear_layout();
  return shape;
}

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_DIMENSIONS_H_
