#include "hlo_backend/lowering/products/stream_meetings.h"

#include <algorithm>

#include "base/units.h"

namespace ptxla::lowering {

StreamMeetings::StreamMeetings(const StreamOperands* operands,
                               const VisitPlan& plan, const ProductTile& tile,
                               int64_t k_extent)
    : operands_(operands),
      plan_(plan),
      tile_(tile),
      k_extent_(k_extent),
      k_visits_(CeilOfRatio(k_extent, plan.tile_k)) {}

bool StreamMeetings::Meets(int64_t visit, int64_t batch, int64_t row) const {
  if (operands_ == nullptr) return true;
  const int64_t first = visit % k_visits_ * plan_.tile_k;
  for (int64_t k = first; k < std::min(first + plan_.tile_k, k_extent_);
       k += 128) {
    for (int64_t r = row; r < std::min(row + plan_.rows, tile_.block_m);
         r += 16) {
      if (operands_->Meets(batch, r, k)) return true;
    }
  }
  return false;
}

bool StreamMeetings::Works(int64_t visit, int64_t batch, int64_t row) const {
  if (operands_ == nullptr) return true;
  const auto [it, is_new] =
      works_.try_emplace({visit % k_visits_, {batch, row}}, false);
  for (int64_t g = 0; is_new && g < plan_.groups && !it->second; ++g) {
    const int64_t r = row + g * plan_.rows;
    it->second = r < tile_.block_m && Meets(visit, batch, r);
  }
  return it->second;
}

StreamMeetings::Span StreamMeetings::Of(int64_t batch, int64_t row) const {
  if (operands_ == nullptr) return {0, k_visits_ - 1};
  const auto [it, is_new] =
      spans_.try_emplace({batch, row}, Span{0, k_visits_ - 1});
  Span& span = it->second;
  while (is_new && span.last >= 0 && !Meets(span.last, batch, row)) {
    --span.last;
  }
  while (is_new && span.first < span.last && !Meets(span.first, batch, row)) {
    ++span.first;
  }
  return span;
}

}  // namespace ptxla::lowering
