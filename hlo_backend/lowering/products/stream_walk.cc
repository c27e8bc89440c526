#include "hlo_backend/lowering/products/stream_walk.h"

#include <algorithm>
#include <array>

#include "base/units.h"
#include "isa/machine_model.h"

namespace ptxla::lowering::stream {

Walk::Walk(const ProductProblem& problem, const ProductTile& tile,
           const ArrayShape& arrays, const StreamParts& parts)
    : problem_(problem),
      tile_(tile),
      arrays_(arrays),
      parts_(parts),
      plan_(PlanVisits(problem, tile, arrays)),
      k_tiles_(CeilOfRatio(parts.k_extent, plan_.tile_k)),
      k_visits_(k_tiles_ * static_cast<int64_t>(problem.passes.size())),
      meetings_(parts.operands, plan_, tile, parts.k_extent) {}

Lane Walk::LaneOf(int64_t visit, int mxu) const {
  if (mxu >= tile_.split_b * tile_.split_n * tile_.split_m) {
    Lane none;
    none.rows = -1;
    return none;
  }
  const int xm = mxu % tile_.split_m;
  const int xn = mxu / tile_.split_m % tile_.split_n;
  const int xb = mxu / (tile_.split_m * tile_.split_n);
  const int64_t macro = visit / k_visits_;
  Lane lane;
  lane.batch = macro / plan_.macros_n * tile_.split_b + xb;
  lane.col = (macro % plan_.macros_n * tile_.split_n + xn) * plan_.tile_n;
  lane.row = xm * plan_.groups * plan_.rows;
  lane.weights = xb * tile_.split_n + xn;
  lane.rows = xb * tile_.split_m + xm;
  lane.active = lane.batch < tile_.block_b && lane.col < tile_.block_n &&
                lane.row < tile_.block_m &&
                meetings_.Works(visit, lane.batch, lane.row);
  return lane;
}

std::vector<Push> Walk::PushesOf(int64_t visit) const {
  const int64_t k0 = K(visit);
  const bool wide = arrays_.size == 256;
  const int k_blocks =
      plan_.tile_k == 256 && parts_.k_extent - k0 > 128 ? 2 : 1;
  std::vector<Push> pushes;
  for (int kb = 0; kb < k_blocks; ++kb) {
    const int64_t k = k0 + 128 * kb;
    const int64_t rows = problem_.rhs.transposed ? ColumnsPushed(problem_)
                         : parts_.operands != nullptr
                             ? parts_.operands->RowsOfK(k)
                             : std::min<int64_t>(128, parts_.k_extent - k);
    for (int row = 0; row < rows; row += arrays_.unit) {
      std::array<bool, isa::kMaxUnits> done{};
      for (int mxu = 0; mxu < arrays_.mxus; ++mxu) {
        const Lane lane = LaneOf(visit, mxu);
        if (!lane.active || done[lane.weights]) continue;
        done[lane.weights] = true;
        Push push;
        push.lane = lane;
        push.k = k;
        push.row = row;
        if (wide) push.block = plan_.form == WeightForm::kFull ? 1 + kb : 3;
        push.two_columns = wide && plan_.form != WeightForm::kTwoRows &&
                           tile_.block_n - lane.col > 128;
        pushes.push_back(push);
      }
    }
  }
  return pushes;
}

Position Walk::PositionOf(const Lane& lane, int64_t row, int sixteen,
                          int half) const {
  Position at;
  at.batch = lane.batch;
  at.row = row + sixteen;
  at.col = lane.col;
  if (plan_.form == WeightForm::kTwoRows) {
    at.row += arrays_.unit * half;
    at.wanted = at.row < tile_.block_m;
  } else {
    at.col += 128 * half;
    at.wanted = at.col < tile_.block_n;
  }
  return at;
}

std::vector<Position> Walk::Empty() const {
  std::vector<Position> empty;
  for (int64_t v = 0; v < visits(); v += k_visits_) {
    for (int mxu = 0; mxu < arrays_.mxus; ++mxu) {
      const Lane lane = LaneOf(v, mxu);
      if (lane.col >= tile_.block_n || lane.batch >= tile_.block_b ||
          lane.rows < 0) {
        continue;
      }
      for (int64_t g = 0; g < plan_.groups; ++g) {
        const int64_t row = lane.row + g * plan_.rows;
        if (row >= tile_.block_m || SpanOf(lane, row).last >= 0) continue;
        for (int half = 0; half < arrays_.size / 128; ++half) {
          const Position at = PositionOf(lane, row, 0, half);
          if (at.wanted) empty.push_back(at);
        }
      }
    }
  }
  return empty;
}

}  // namespace ptxla::lowering::stream
