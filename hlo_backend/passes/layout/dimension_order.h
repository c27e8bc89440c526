// The order in which an array's dimensions lie in memory.
//
//   f32[8,16,4]{0,2,1}
//   OrderOf(shape)      // {1,2,0}: 16 is the major one, 8 the minor
//   PlacesOf(shape)     // {2,0,1}: the first one is the last in memory
//   RowMajorOf(shape)   // f32[16,4,8]{2,1,0}
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_DIMENSION_ORDER_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_DIMENSION_ORDER_H_

#include "absl/types/span.h"
#include "hlo_backend/ir/shape.h"

namespace ptxla::hlo {

// result[order[k]] = k.
DimVector Inverse(absl::Span<const int64_t> order);

// An array with a layout and of known size.
bool HasOrder(const Shape& shape);

// Of such an array. Logical dimensions, major to minor.
DimVector OrderOf(const Shape& shape);
// Where each dimension of the shape stands when it is row-major.
DimVector PlacesOf(const Shape& shape);
// The array with its dimensions in the order in which they lie.
Shape RowMajorOf(const Shape& shape);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_DIMENSION_ORDER_H_
