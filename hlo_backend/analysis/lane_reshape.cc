#include "hlo_backend/analysis/lane_reshape.h"

#include <algorithm>

namespace ptxla::hlo {

std::optional<LaneReshape> FindLaneReshape(absl::Span<const int64_t> from,
                                           absl::Span<const int64_t> to) {
  LaneReshape r;
  r.cuts = from.size() < to.size();
  const auto apart = r.cuts ? to : from, joined = r.cuts ? from : to;
  if (joined.size() < 2 || apart.size() <= joined.size()) return std::nullopt;
  const size_t kept = joined.size() - 1;  // dimensions in front of the lanes
  if (!std::equal(joined.begin(), joined.begin() + kept, apart.begin())) {
    return std::nullopt;
  }
  for (size_t d = 0; d + 1 < kept; ++d) r.major *= joined[d];
  r.rows = joined[kept - 1];
  for (size_t d = kept; d + 2 < apart.size(); ++d) r.planes *= apart[d];
  r.parts = apart[apart.size() - 2];
  r.lanes = apart.back();
  if (r.lanes == 0 || r.lanes % 128 != 0) return std::nullopt;
  return r;
}

}  // namespace ptxla::hlo
