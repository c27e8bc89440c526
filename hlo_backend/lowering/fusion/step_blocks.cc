#include "hlo_backend/lowering/fusion/step_blocks.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/units.h"
#include "chips/compiler_policy.h"
#include "hlo_backend/lowering/fusion/cheapest_cuts.h"
#include "hlo_backend/lowering/fusion/geometry_facts.h"
#include "isa/instruction.h"

namespace ptxla::lowering {
namespace {

int64_t Size(const std::vector<int64_t>& block) {
  int64_t tiles = 1;
  for (const int64_t b : block) tiles *= b;
  return tiles;
}

// A block of an axis of at most `room` base tiles, about equal to the others.
int64_t BlockOf(const Axis& axis, int64_t room, int64_t multiple) {
  if (axis.tiles <= room) return axis.tiles;
  const int64_t steps = CeilOfRatio(axis.tiles, std::max<int64_t>(1, room));
  const int64_t block =
      RoundUpTo(RoundUpTo(CeilOfRatio(axis.tiles, steps), axis.unit), multiple);
  return std::min(block, axis.tiles);
}

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
  if (cores == 1 || !one_folds || g.axes[axis].reduced ||
      block >= g.axes[axis].tiles || block <= isa::kSublanes) {
    return block;
  }
  return block - block % isa::kSublanes;
}

// The axis that cores share, as far as shapes tell (reduce_windows.h decides):
// the outermost kept one that is cut, but for planes that become one value
// each, which meet in a row of the result; else a reduced one that no kept one
// is cut before. -1: none.
int SharedAxis(const Geometry& g, const std::vector<int64_t>& block) {
  const bool meet = FoldsLanes(g) && FoldsSublanes(g);
  const int rank = static_cast<int>(g.axes.size());
  const auto is_cut = [&](int a) { return block[a] < g.axes[a].tiles; };
  for (int a = 0; a < rank && !meet; ++a) {
    if (!g.axes[a].reduced && is_cut(a)) return a;
  }
  for (int a = 0; a < rank && (g.axes[a].reduced || !is_cut(a)); ++a) {
    if (is_cut(a)) return a;
  }
  return -1;
}

// Steps of the busier of `cores`.
int64_t StepsOf(const Geometry& g, const std::vector<int64_t>& block,
                int cores) {
  const int shared = SharedAxis(g, block);
  int64_t steps = 1;
  for (size_t a = 0; a < g.axes.size(); ++a) {
    const int64_t along = CeilOfRatio(g.axes[a].tiles, block[a]);
    steps *= static_cast<int>(a) == shared ? CeilOfRatio<int64_t>(along, cores)
                                           : along;
  }
  return steps;
}

// Blocks of at most `most` that cut an axis into equal parts, large ones first;
// one at least.
std::vector<int64_t> PartsOf(const Axis& axis, int64_t most, int64_t multiple) {
  std::vector<int64_t> parts;
  for (int64_t room = std::min(axis.tiles, most); room > 0;) {
    const int64_t equal =
        CeilOfRatio(axis.tiles, CeilOfRatio(axis.tiles, room));
    const int64_t block = BlockOf(axis, equal, multiple);
    if (block <= most && (parts.empty() || block < parts.back())) {
      parts.push_back(block);
    }
    room = equal - 1;
  }
  if (parts.empty()) parts.push_back(BlockOf(axis, 1, multiple));
  return parts;
}

// Planes of an axis, at most `room`: as few steps as the dimensions that are
// merged into it make where they are apart.
int64_t PlanesOf(const Axis& axis, int64_t room) {
  if (axis.parts.size() <= 1 || axis.tiles <= room) {
    return BlockOf(axis, room, 1);
  }
  int64_t steps = 1;
  for (const int64_t cuts : CheapestCuts(
           axis.parts, {room, room, static_cast<double>(axis.tiles), 0})) {
    steps *= cuts;
  }
  return CeilOfRatio(axis.tiles, steps);
}

// Of planes, with the innermost ones first: at most `reduced` of those that are
// reduced, and of the others what is left of `target`.
void TakePlanes(const Geometry& g, const StepLimits& limits, int64_t reduced,
                std::vector<int64_t>* block) {
  int64_t kept = std::max<int64_t>(1, limits.tiles / Size(*block) / reduced);
  for (int a = static_cast<int>(g.axes.size()) - 1; a >= 0; --a) {
    const Axis& axis = g.axes[a];
    if (axis.kind != Axis::Kind::kMajor) continue;
    int64_t& room = axis.reduced ? reduced : kept;
    const int64_t members =
        WholeTilesOfMembers(g, a, limits.cores, PlanesOf(axis, room));
    (*block)[a] =
        std::min(axis.tiles, WholeRowTiles(g, a, limits.tiles, members));
    room = std::max<int64_t>(1, room / (*block)[a]);
  }
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

// Of the steps, in tiles; then its columns: the more beside values for each
// row, the fewer beside values for each column; less what a step reduces.
using Cost = std::tuple<double, int64_t, int64_t>;

struct StepCost {
  StepCost(const chips::ChipSpec& chip, const Geometry& g, int cores)
      : g(g),
        cores(cores),
        step(chips::CompilerPolicy(chip, "step_tiles")),
        row(chips::CompilerPolicy(chip, "step_row_tiles") *
            static_cast<double>(ValuesOfRows(g))),
        plane(FoldsLanes(g) && FoldsSublanes(g)
                  ? chips::CompilerPolicy(chip, "step_plane_tiles")
                  : 0),
        exchange(static_cast<double>(
            chip.core().clock.CyclesCeil(chip.dma().on_chip_latency).count())) {
  }

  // Of `steps` with so many tiles, rows of them and kept planes.
  double Of(int64_t steps, int64_t tiles, int64_t rows, int64_t planes) const {
    return static_cast<double>(steps) * (step + static_cast<double>(tiles) +
                                         row * static_cast<double>(rows) +
                                         plane * static_cast<double>(planes));
  }
  Cost Of(const std::vector<int64_t>& block) const {
    int64_t reduced = 1, rows = 1, planes = 1;
    for (size_t a = 0; a < g.axes.size(); ++a) {
      (g.axes[a].reduced ? reduced : planes) *= block[a];
      if (static_cast<int>(a) != g.column_axis) rows *= block[a];
    }
    const int64_t columns = block[g.column_axis];
    const int shared = SharedAxis(g, block);
    const bool exchanges = cores > 1 && shared >= 0 && g.axes[shared].reduced;
    return {Of(StepsOf(g, block, cores), Size(block), rows, planes) +
                (exchanges ? exchange : 0),
            HasExpandedRows(g) ? -columns
            : Reduces(g)       ? 0
                               : columns,
            -reduced};
  }

  const Geometry& g;
  const int cores;
  // A step, beside its tiles; a row of values that are put on all lanes; a
  // value of a plane, whose sublanes and lanes are folded in every step that
  // has a part of it; what cores wait for that send one another parts of a sum,
  // where a tile takes a cycle.
  const double step, row, plane, exchange;
};

std::vector<int64_t> CheapestSteps(const chips::ChipSpec& chip,
                                   const Geometry& g,
                                   const StepLimits& limits) {
  int64_t planes = 1, reduced_planes = 1;
  for (const Axis& a : g.axes) {
    if (a.kind != Axis::Kind::kMajor) continue;
    planes *= a.tiles;
    reduced_planes *= a.reduced ? a.tiles : 1;
  }
  const Axis no_rows;
  const Axis& columns = g.axes[g.column_axis];
  const Axis& rows = g.row_axis < 0 ? no_rows : g.axes[g.row_axis];
  const int64_t most = limits.most;
  const auto column_parts = PartsOf(columns, most, 1);
  const auto row_parts = PartsOf(rows, most, RowsTogether(g));
  const StepCost costs(chip, g, limits.cores);
  Cost least;
  std::vector<int64_t> best;
  for (const int64_t c : column_parts) {
    for (const int64_t r : row_parts) {
      const bool smallest = c == column_parts.back() && r == row_parts.back();
      if (c * r > most && !(smallest && best.empty())) continue;
      const int64_t room = std::max<int64_t>(1, most / (c * r));
      // No choice of planes is cheaper.
      const int64_t steps = CeilOfRatio(columns.tiles, c) *
                            CeilOfRatio(rows.tiles, r) *
                            CeilOfRatio(planes, room) / limits.cores;
      if (!best.empty() && costs.Of(steps, c * r, r, 1) > std::get<0>(least)) {
        continue;
      }
      std::vector<int64_t> block(g.axes.size(), 1);
      block[g.column_axis] = c;
      if (g.row_axis >= 0) block[g.row_axis] = r;
      for (int64_t taken = 1; taken <= room; taken *= 2) {
        std::vector<int64_t> b = block;
        TakePlanes(g, limits, std::min(taken, reduced_planes), &b);
        const Cost cost = costs.Of(b);
        if (best.empty() || cost < least) {
          least = cost;
          best = std::move(b);
        }
        if (taken >= reduced_planes) break;
      }
    }
  }
  // Rows of planes that are merged are cut where these are apart.
  if (g.row_axis >= 0 && rows.parts.size() > 1 && RowsTogether(g) == 1) {
    int64_t& block = best[g.row_axis];
    const int64_t others = Size(best) / block;
    if (block < rows.tiles) {
      block =
          RoundUpTo(PlanesOf(rows, std::max<int64_t>(1, limits.tiles / others)),
                    rows.unit);
    }
  }
  return best;
}

// An operand has one value for all rows of a column.
bool HasValuesOfColumns(const Geometry& g) {
  return g.row_axis >= 0 &&
         std::any_of(g.streams.begin(), g.streams.end(), [](const Stream& s) {
           return s.access == Access::kRowOfLanes;
         });
}

// From the innermost axis outwards.
std::vector<int64_t> WholeRows(const Geometry& g, const StepLimits& limits) {
  std::vector<int64_t> block(g.axes.size(), 1);
  int64_t taken = 1;
  for (const Axis& a : g.axes) {
    if (limits.whole_reduced && a.reduced) taken *= a.tiles;
  }
  const bool group_rows = HasExpandedRows(g) || ReducesRows(g);
  for (int a = static_cast<int>(g.axes.size()) - 1; a >= 0; --a) {
    const Axis& axis = g.axes[a];
    if (limits.whole_reduced && axis.reduced) {
      block[a] = axis.tiles;
      continue;
    }
    const int64_t room = std::max<int64_t>(1, limits.tiles / taken);
    block[a] = axis.tiles;
    if (axis.tiles > room) {
      const int64_t steps = CeilOfRatio(axis.tiles, room);
      block[a] = RoundUpTo(CeilOfRatio(axis.tiles, steps),
                           steps == limits.cores ? axis.core_unit : axis.unit);
      if (axis.kind == Axis::Kind::kRow && group_rows) {
        block[a] = RoundUpTo(block[a], RowGroup(g));
      }
      block[a] =
          std::min(axis.tiles, WholeRowTiles(g, a, limits.tiles, block[a]));
    }
    taken *= block[a];
  }
  return block;
}

// Axes are cut as often as the dimensions that are merged into them are where
// they are apart, as in the TPU compiler's windows.
std::vector<int64_t> CheapestLoop(const chips::ChipSpec& chip,
                                  const Geometry& g, const StepLimits& limits) {
  std::vector<int64_t> sizes;
  for (const Axis& a : g.axes) {
    sizes.insert(sizes.end(), a.parts.begin(), a.parts.end());
  }
  const std::vector<int64_t> cuts = CheapestCuts(
      sizes,
      {limits.tiles, limits.most, chips::CompilerPolicy(chip, "step_tiles"),
       chips::CompilerPolicy(chip, "step_excess_cost"), limits.cores});
  std::vector<int64_t> block;
  size_t part = 0;
  for (size_t k = 0; k < g.axes.size(); ++k) {
    const Axis& a = g.axes[k];
    int64_t steps = 1;
    for (size_t n = 0; n < a.parts.size(); ++n) steps *= cuts[part++];
    const int64_t tiles =
        RoundUpTo(CeilOfRatio(a.tiles, steps),
                  steps == limits.cores ? a.core_unit : a.unit);
    block.push_back(std::min(
        a.tiles, WholeRowTiles(g, static_cast<int>(k), limits.tiles, tiles)));
  }
  return block;
}

}  // namespace

std::vector<int64_t> StepBlocks(const chips::ChipSpec& chip, const Geometry& g,
                                const StepLimits& limits) {
  // Of more dimensions than a window has, the inner ones must stay whole.
  const bool many = g.axes.size() > isa::kMaxWindowDims;
  if (many || limits.whole_reduced) return WholeRows(g, limits);
  const bool rows_or_columns =
      Reduces(g) || HasExpandedRows(g) || HasValuesOfColumns(g);
  return rows_or_columns ? CheapestSteps(chip, g, limits)
                         : CheapestLoop(chip, g, limits);
}

}  // namespace ptxla::lowering
