// Where a product's stream goes: its visits one after another, and what each
// MXU multiplies in them.
//
//   Walk walk(problem, tile, arrays, parts);
//   for (int64_t v = 0; v < walk.visits(); ++v) {
//     for (int mxu = 0; mxu < arrays.mxus; ++mxu) {
//       const Lane lane = walk.LaneOf(v, mxu); ...
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_STREAM_WALK_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_STREAM_WALK_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/products/product_stream.h"
#include "hlo_backend/lowering/products/product_visits.h"
#include "hlo_backend/lowering/products/stream_meetings.h"
#include "hlo_backend/lowering/products/stream_places.h"

namespace ptxla::lowering::stream {

class Walk {
 public:
  // All of them must outlive it.
  Walk(const ProductProblem& problem, const ProductTile& tile,
       const ArrayShape& arrays, const StreamParts& parts);
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  const VisitPlan& plan() const { return plan_; }
  int64_t visits() const { return plan_.macros * k_visits_; }
  // Visits of one macro tile: K tiles, of all passes over them.
  int64_t k_visits() const { return k_visits_; }
  int64_t K(int64_t visit) const {
    return visit % k_visits_ % k_tiles_ * plan_.tile_k;
  }
  const ProductPass& Pass(int64_t visit) const {
    return problem_.passes[visit % k_visits_ / k_tiles_];
  }

  Lane LaneOf(int64_t visit, int mxu) const;
  // Has the lane anything to multiply with the rows of the group that begins at
  // `row`?
  bool Multiplies(int64_t visit, const Lane& lane, int64_t row) const {
    return lane.active && row < tile_.block_m &&
           meetings_.Meets(visit, lane.batch, row);
  }
  // Registers of weights that the visit needs in the MXUs.
  std::vector<Push> PushesOf(int64_t visit) const;
  // Results of a group's rows `row` + `sixteen` ... + 15, of the left or the
  // right columns (or of the second block of rows).
  Position PositionOf(const Lane& lane, int64_t row, int sixteen,
                      int half) const;

  // Do sums of these rows begin in the visit, and do they end?
  bool First(int64_t visit, const Lane& lane, int64_t row) const {
    return parts_.starts && visit % k_visits_ == SpanOf(lane, row).first;
  }
  bool Last(int64_t visit, const Lane& lane, int64_t row) const {
    return parts_.finishes && visit % k_visits_ == SpanOf(lane, row).last;
  }
  // Positions whose rows no K meets: sums of nothing.
  std::vector<Position> Empty() const;

 private:
  StreamMeetings::Span SpanOf(const Lane& lane, int64_t row) const {
    return parts_.operands != nullptr ? meetings_.Of(lane.batch, row)
                                      : StreamMeetings::Span{0, k_visits_ - 1};
  }

  const ProductProblem& problem_;
  const ProductTile& tile_;
  const ArrayShape& arrays_;
  const StreamParts& parts_;
  const VisitPlan plan_;
  const int64_t k_tiles_;
  const int64_t k_visits_;
  const StreamMeetings meetings_;
};

}  // namespace ptxla::lowering::stream

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_STREAM_WALK_H_
