#include "hlo_backend/passes/layout/reshape_groups.h"

namespace ptxla::hlo {

std::vector<ReshapeGroup> ReshapeGroups(absl::Span<const int64_t> in,
                                        absl::Span<const int64_t> out) {
  std::vector<ReshapeGroup> groups;
  size_t i = 0, j = 0;
  while (i < in.size() || j < out.size()) {
    ReshapeGroup g = {i, i, j, j};
    int64_t a = 1, b = 1;
    do {
      if ((a <= b && i < in.size()) || j == out.size()) {
        a *= in[i++];
      } else {
        b *= out[j++];
      }
    } while (a != b);
    g.from_end = i;
    g.to_end = j;
    if (a == 1 && !groups.empty()) {
      groups.back().from_end = i;
      groups.back().to_end = j;
    } else {
      groups.push_back(g);
    }
  }
  return groups;
}

}  // namespace ptxla::hlo
