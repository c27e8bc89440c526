// Reshapes that lay rows of whole tiles side by side (images flattened to
// features), or cut such lanes into rows.
//
//   FindLaneReshape({32, 7, 7, 512}, {32, 25088})
//       == {cuts: false, major: 1, rows: 32, planes: 7, parts: 7, lanes: 512}
//   FindLaneReshape({32, 7, 7, 64}, {32, 3136}) == nullopt   // half a tile
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_LANE_RESHAPE_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_LANE_RESHAPE_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"

namespace ptxla::hlo {

// [major, rows, planes, parts, lanes] on one side, dimensions of each kind
// joined to one, and [major, rows, planes * parts * lanes] on the other.
struct LaneReshape {
  bool cuts = false;  // the operand is the side with few dimensions
  int64_t major = 1, rows = 1, planes = 1, parts = 1, lanes = 128;
};

// Dimensions of both sides, from major to minor.
std::optional<LaneReshape> FindLaneReshape(absl::Span<const int64_t> from,
                                           absl::Span<const int64_t> to);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_LANE_RESHAPE_H_
