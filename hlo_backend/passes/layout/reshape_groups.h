// What a reshape does to which dimensions.
//
//   ReshapeGroups({32, 14, 14, 16, 3}, {32, 196, 48})
//   // [0,1) is [0,1), [1,3) becomes [1,2), [3,5) becomes [2,3)
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_RESHAPE_GROUPS_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_RESHAPE_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace ptxla::hlo {

// Dimensions [from, from_end) of one shape that are [to, to_end) of the other.
struct ReshapeGroup {
  size_t from = 0, from_end = 0, to = 0, to_end = 0;

  bool Changes(absl::Span<const int64_t> in,
               absl::Span<const int64_t> out) const {
    return in.subspan(from, from_end - from) != out.subspan(to, to_end - to);
  }
};

// The smallest groups of the same size, from major to minor; dimensions of size
// 1 belong to the group before them. Both shapes have elements, and as many.
std::vector<ReshapeGroup> ReshapeGroups(absl::Span<const int64_t> in,
                                        absl::Span<const int64_t> out);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_RESHAPE_GROUPS_H_
