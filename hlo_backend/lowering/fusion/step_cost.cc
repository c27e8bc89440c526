#include "hlo_backend/lowering/fusion/step_cost.h"

#include <algorithm>

#include "base/units.h"
#include "chips/compiler_policy.h"
#include "hlo_backend/lowering/core_window.h"
#include "hlo_backend/lowering/fusion/geometry_facts.h"

namespace ptxla::lowering {
namespace {

// A block of an axis that chooses rows of arrays larger than a step of `target`
// tiles: whole tiles of rows, or a part of one that others complete, so that a
// window of rows can move along.
int64_t WholeRowTiles(const Geometry& g, int axis, int64_t target,
                      int64_t block) {
  int64_t rows = 1;
  for (const Stream& s : g.streams) {
    if (s.row_axis == axis && s.array.bytes() > target * isa::kVregBytes) {
      rows = std::max(rows, s.array.tile_rows);
    }
  }
  if (rows == 1) return block;
  if (block >= rows) return RoundUpTo(block, rows);
  int64_t part = 1;
  while (part < block) part *= 2;
  return part;
}

// Members whose results are rows of the same tiles: whole tiles of them, so
// that cores can share the steps (reduce_windows.h).
int64_t WholeTilesOfMembers(const Geometry& g, int axis, int cores,
                            int64_t block) {
  const bool one_folds = Reduces(g) && FoldsLanes(g) != FoldsSublanes(g);
  const Axis& a = g.axes[axis];
  if (cores == 1 || !one_folds || a.kind != Axis::Kind::kMajor || a.reduced ||
      block >= a.tiles || block <= isa::kSublanes) {
    return block;
  }
  return block - block % isa::kSublanes;
}

// Values of rows, lanes that are reduced or an operand, share rows of 128.
int64_t RowsTogether(const Geometry& g) {
  return (KeepsRows(g) && FoldsLanes(g)) || HasExpandedRows(g) ? RowGroup(g)
                                                               : 1;
}

// Operands with a value for each row, that are put on all lanes.
int64_t ValuesOfRows(const Geometry& g) {
  return std::count_if(g.streams.begin(), g.streams.end(), [](const Stream& s) {
    return s.access == Access::kLaneOfRows;
  });
}

// An operand has one value for all rows of a column.
bool HasValuesOfColumns(const Geometry& g) {
  return g.row_axis >= 0 &&
         std::any_of(g.streams.begin(), g.streams.end(), [](const Stream& s) {
           return s.access == Access::kRowOfLanes;
         });
}

}  // namespace

int64_t GroupedBlock(const Geometry& g, int axis, const StepLimits& limits,
                     int64_t steps) {
  const Axis& a = g.axes[axis];
  int64_t block = RoundUpTo(CeilOfRatio(a.tiles, steps),
                            steps == limits.cores ? a.core_unit : a.unit);
  if (axis == g.row_axis) block = RoundUpTo(block, RowsTogether(g));
  block = WholeTilesOfMembers(g, axis, limits.cores, block);
  return std::min(a.tiles, WholeRowTiles(g, axis, limits.tiles, block));
}

StepCost::StepCost(const chips::ChipSpec& chip, const Geometry& g,
                   const StepLimits& limits)
    : g_(g),
      limits_(limits),
      excess_(RowsTogether(g) > 1
                  ? 0
                  : chips::CompilerPolicy(chip, "step_excess_cost")),
      step_(chips::CompilerPolicy(chip, "step_tiles")),
      row_(chips::CompilerPolicy(chip, "step_row_tiles") *
           static_cast<double>(ValuesOfRows(g))),
      plane_(FoldsLanes(g) && FoldsSublanes(g)
                 ? chips::CompilerPolicy(chip, "step_plane_tiles")
                 : 0),
      exchange_(static_cast<double>(
          chip.core().clock.CyclesCeil(chip.dma().on_chip_latency).count())) {}

std::vector<int64_t> StepCost::Sizes() const {
  std::vector<int64_t> sizes;
  for (const Axis& a : g_.axes) {
    sizes.insert(sizes.end(), a.parts.begin(), a.parts.end());
  }
  return sizes;
}

BlockCost StepCost::OfTiles() const {
  return {limits_.tiles, limits_.most, step_, excess_, limits_.cores};
}

std::vector<int64_t> StepCost::BlockOf(absl::Span<const int64_t> cuts) const {
  std::vector<int64_t> block;
  size_t part = 0;
  for (size_t k = 0; k < g_.axes.size(); ++k) {
    int64_t steps = 1;
    for (size_t n = 0; n < g_.axes[k].parts.size(); ++n) steps *= cuts[part++];
    block.push_back(GroupedBlock(g_, static_cast<int>(k), limits_, steps));
  }
  return block;
}

// Which axis cores share, as far as shapes tell (reduce_windows.h decides): of
// the kept ones that are cut, but for planes that become one value each, which
// meet in a row of the result; else the outermost reduced one, if no kept one
// is cut before.
int64_t StepCost::Steps(const std::vector<int64_t>& along,
                        bool* exchanges) const {
  std::vector<int64_t> kept;
  int64_t steps = 1, reduced = 1;
  for (size_t a = 0; a < g_.axes.size(); ++a) {
    steps *= along[a];
    if (along[a] == 1) continue;
    if (!g_.axes[a].reduced) {
      kept.push_back(along[a]);
    } else if (kept.empty() && reduced == 1) {
      reduced = along[a];
    }
  }
  const bool meet = FoldsLanes(g_) && FoldsSublanes(g_);
  const bool sends = meet || kept.empty();
  const int64_t shared = sends ? reduced : kept[SharedDim(kept, limits_.cores)];
  *exchanges = sends && reduced > 1 && limits_.cores > 1;
  return steps / shared * CeilOfRatio<int64_t>(shared, limits_.cores);
}

// Planes fill a step from the innermost on, of those that are reduced and of
// others: rows of results share tiles with those of the next planes, and values
// of rows are put on all lanes for planes that follow one another.
bool StepCost::FillsPlanes(const std::vector<int64_t>& block) const {
  bool full[2] = {true, true};  // inner planes that are kept, and reduced
  for (int a = static_cast<int>(g_.axes.size()) - 1; a >= 0; --a) {
    const Axis& axis = g_.axes[a];
    if (axis.kind != Axis::Kind::kMajor) continue;
    bool& inner = full[axis.reduced ? 1 : 0];
    if (!inner && block[a] > 1) return false;
    inner = inner && block[a] == axis.tiles;
  }
  return true;
}

CutsCost StepCost::Of(absl::Span<const int64_t> cuts) const {
  const std::vector<int64_t> block = BlockOf(cuts);
  std::vector<int64_t> along;
  int64_t tiles = 1, reduced = 1, rows = 1, planes = 1;
  size_t part = 0;
  for (size_t a = 0; a < g_.axes.size(); ++a) {
    const Axis& axis = g_.axes[a];
    // Merged dimensions have padding of their own, unless groups are larger.
    int64_t apart = 1, steps = 1;
    for (const int64_t size : axis.parts) {
      apart *= CeilOfRatio(size, cuts[part]);
      steps *= cuts[part++];
    }
    const bool grouped =
        axis.parts.size() == 1 || block[a] > RoundUpTo(apart, axis.unit);
    along.push_back(grouped ? CeilOfRatio(axis.tiles, block[a]) : steps);
    tiles *= grouped ? block[a] : apart;
    (axis.reduced ? reduced : planes) *= block[a];
    if (static_cast<int>(a) != g_.column_axis) rows *= block[a];
  }
  bool exchanges = false;
  const int64_t steps = Steps(along, &exchanges);
  const double of_step = step_ + static_cast<double>(tiles) +
                         row_ * static_cast<double>(rows) +
                         plane_ * static_cast<double>(planes);
  CutsCost cost;
  cost.beyond = std::max<int64_t>(0, tiles - limits_.most);
  if ((Reduces(g_) || HasExpandedRows(g_)) && !FillsPlanes(block)) {
    ++cost.beyond;
  }
  cost.all = static_cast<double>(steps * limits_.cores) * of_step *
                 (tiles > limits_.tiles ? 1 + excess_ : 1) +
             (exchanges ? exchange_ * limits_.cores : 0);
  // The more columns beside values for each row, which stay in registers, the
  // fewer beside values for each column; less is stored and loaded of sums.
  const int64_t columns = block[g_.column_axis];
  cost.next = HasExpandedRows(g_)                      ? -columns
              : Reduces(g_) || !HasValuesOfColumns(g_) ? 0
                                                       : columns;
  cost.last = -reduced;
  return cost;
}

}  // namespace ptxla::lowering
