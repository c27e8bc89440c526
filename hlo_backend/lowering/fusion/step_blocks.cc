#include "hlo_backend/lowering/fusion/step_blocks.h"

#include "base/units.h"
#include "hlo_backend/lowering/fusion/geometry_facts.h"
#include "hlo_backend/lowering/fusion/step_cost.h"
#include "isa/instruction.h"

namespace ptxla::lowering {
namespace {

// From the innermost axis outwards.
std::vector<int64_t> WholeRows(const Geometry& g, const StepLimits& limits) {
  std::vector<int64_t> block(g.axes.size(), 1);
  int64_t taken = 1;
  for (const Axis& a : g.axes) {
    if (limits.whole_reduced && a.reduced) taken *= a.tiles;
  }
  for (int a = static_cast<int>(g.axes.size()) - 1; a >= 0; --a) {
    const Axis& axis = g.axes[a];
    if (limits.whole_reduced && axis.reduced) {
      block[a] = axis.tiles;
      continue;
    }
    const int64_t room = std::max<int64_t>(1, limits.tiles / taken);
    block[a] = axis.tiles <= room
                   ? axis.tiles
                   : GroupedBlock(g, a, limits, CeilOfRatio(axis.tiles, room));
    taken *= block[a];
  }
  return block;
}

}  // namespace

std::vector<int64_t> StepBlocks(const chips::ChipSpec& chip, const Geometry& g,
                                const StepLimits& limits) {
  // Of more dimensions than a window has, the inner ones must stay whole.
  const bool many = g.axes.size() > isa::kMaxWindowDims;
  if (many || limits.whole_reduced) return WholeRows(g, limits);
  const StepCost cost(chip, g, limits);
  return cost.BlockOf(CheapestCuts(
      cost.Sizes(), cost.OfTiles(),
      [&](absl::Span<const int64_t> cuts) { return cost.Of(cuts); }));
}

}  // namespace ptxla::lowering
