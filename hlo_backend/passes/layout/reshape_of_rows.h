// A reshape behind a transpose that cuts or joins what has come into the lanes,
// where it lay in rows or planes before: the reshape goes first, and whole rows
// move. Lanes stay lanes, and the transpose may meet another behind.
//
//   reshape(transpose(y[800,2048], {1,0}), [2048,8,100])
//   ==>  transpose(reshape(y, [8,100,2048]), {2,0,1})
//
// Or one that leaves what has come into the lanes and cuts what lay there, if
// the parts fill tiles better: images of three channels, cut into patches.
//
//   reshape(transpose(y[3,224,224], {1,2,0}), [14,16,14,16,3])
//   ==>  transpose(reshape(y, [3,14,16,14,16]), {1,2,3,4,0})
//
//   if (auto r = ReshapeOfRows(reshape); r.has_value()) {
//     transpose(reshape(transpose(y, r->inner), r->dims), r->order)
//   }
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_RESHAPE_OF_ROWS_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_RESHAPE_OF_ROWS_H_

#include <optional>

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

struct ReshapedRows {
  DimVector inner;  // brings dimensions together that are joined; keeps lanes
  DimVector dims;   // of the reshape
  DimVector order;  // of the transpose behind it
};

// None if `reshape` is no such reshape of a transpose.
std::optional<ReshapedRows> ReshapeOfRows(const Instruction& reshape);
// The same of a transpose by `order` to `from` and a reshape of that to `to`.
std::optional<ReshapedRows> ReshapeOfRows(absl::Span<const int64_t> order,
                                          absl::Span<const int64_t> from,
                                          absl::Span<const int64_t> to);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_RESHAPE_OF_ROWS_H_
