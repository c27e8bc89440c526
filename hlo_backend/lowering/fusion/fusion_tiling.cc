#include "hlo_backend/lowering/fusion/fusion_tiling.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/fusion/fusion_windows.h"
#include "hlo_backend/lowering/fusion/geometry_facts.h"
#include "hlo_backend/lowering/kernel_emitter.h"

namespace ptxla::lowering {
namespace {

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

// Planes that are reduced for rows that are not, of at most `room`: a step that
// has several loads and stores what it adds to once.
int64_t ReducedPlanes(const Geometry& g, int64_t room) {
  int64_t planes = 1;
  if (g.axes[g.row_axis].reduced) return planes;
  for (const Axis& a : g.axes) {
    if (a.kind == Axis::Kind::kMajor && a.reduced) planes *= a.tiles;
  }
  return std::max<int64_t>(1, std::min(planes, room));
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

// Windows as the TPU compiler cuts them where rows are grouped or reduced: the
// fewest rows whose 128 values make a row, as many columns as the step takes,
// planes that are reduced, then more rows; of a reduction over rows that is
// fused with nothing, rows first.
void ChooseGroupedBlocks(const Geometry& g, int64_t target, bool rows_first,
                         int cores, NestPlan* plan) {
  plan->block.assign(g.axes.size(), 1);
  const Axis& rows = g.axes[g.row_axis];
  const Axis& columns = g.axes[g.column_axis];
  const int64_t group = RowGroup(g);
  int64_t& row_block = plan->block[g.row_axis];
  int64_t& column_block = plan->block[g.column_axis];
  if (rows_first) {
    row_block = BlockOf(rows, target, 1);
    column_block = BlockOf(columns, target / row_block, 1);
  } else {
    const int64_t least = std::min(rows.tiles, group);
    // Packed results take more rows than the TPU compiler's; rows that are
    // whole in its steps are whole all the same.
    const bool whole =
        columns.tiles * std::min(rows.tiles, kRowGroup) <= target;
    column_block = whole ? columns.tiles : BlockOf(columns, target / least, 1);
    const int64_t planes = ReducedPlanes(g, target / (least * column_block));
    row_block =
        BlockOf(rows, std::max(least, target / column_block / planes), group);
  }
  int64_t taken = row_block * column_block;
  for (int a = static_cast<int>(g.axes.size()) - 1; a >= 0; --a) {
    if (g.axes[a].kind != Axis::Kind::kMajor) continue;
    const int64_t members =
        WholeTilesOfMembers(g, a, cores, BlockOf(g.axes[a], target / taken, 1));
    plan->block[a] =
        std::min(g.axes[a].tiles, WholeRowTiles(g, a, target, members));
    taken *= plan->block[a];
  }
}

// Chooses blocks from the innermost axis outwards.
void ChooseBlocks(const Geometry& g, int64_t target, bool group_rows,
                  bool whole_reduced, int cores, NestPlan* plan) {
  plan->block.assign(g.axes.size(), 1);
  int64_t taken = 1;
  for (const Axis& a : g.axes) {
    if (whole_reduced && a.reduced) taken *= a.tiles;
  }
  // Canonical order, columns innermost: contiguous memory first.
  for (int a = static_cast<int>(g.axes.size()) - 1; a >= 0; --a) {
    const Axis& axis = g.axes[a];
    if (whole_reduced && axis.reduced) {
      plan->block[a] = axis.tiles;
      continue;
    }
    const int64_t room = std::max<int64_t>(1, target / taken);
    int64_t block = axis.tiles;
    if (block > room) {
      const int64_t steps = CeilOfRatio(axis.tiles, room);
      block = RoundUpTo(CeilOfRatio(axis.tiles, steps),
                        steps == cores ? axis.core_unit : axis.unit);
      if (axis.kind == Axis::Kind::kRow && group_rows) {
        block = RoundUpTo(block, RowGroup(g));
      }
      block = WholeRowTiles(g, a, target, block);
      block = std::min(block, axis.tiles);
    }
    plan->block[a] = block;
    taken *= block;
  }
}

// Planes, rows and columns of a step, and how many steps the busier of `cores`
// has: it shares the outermost kept axis that is cut.
struct PlaneBlocks {
  std::vector<int64_t> block;
  int64_t steps = 0;
};

PlaneBlocks BlocksOfPlanes(const Geometry& g, int64_t target, int64_t planes,
                           int cores) {
  PlaneBlocks b;
  b.block.assign(g.axes.size(), 1);
  int64_t room = target / planes;
  for (int a = static_cast<int>(g.axes.size()) - 1; a >= 0; --a) {
    const Axis& axis = g.axes[a];
    int64_t& mine = axis.reduced ? planes : room;
    b.block[a] = BlockOf(axis, mine, 1);
    mine = std::max<int64_t>(1, mine / b.block[a]);
  }
  b.steps = 1;
  bool shared = false;
  for (size_t a = 0; a < g.axes.size(); ++a) {
    const int64_t steps = CeilOfRatio(g.axes[a].tiles, b.block[a]);
    const bool share = !shared && !g.axes[a].reduced && steps > 1;
    b.steps *= share ? CeilOfRatio<int64_t>(steps, cores) : steps;
    shared |= share;
  }
  return b;
}

// Of a lone reduction over planes alone: as many planes in a step as leave the
// fewest steps of `target` tiles, of equal choices the most, so that a partial
// sum is seldom stored and loaded again (libtpu 0.0.42.1: sums of 31 arrays on
// v5e and v5p, whose windows are these).
void ChoosePlaneBlocks(const Geometry& g, int64_t target, int cores,
                       NestPlan* plan) {
  int64_t all = 1;
  for (const Axis& a : g.axes) all *= a.reduced ? a.tiles : 1;
  PlaneBlocks best;
  for (int64_t planes = 1; planes <= target; planes *= 2) {
    PlaneBlocks b = BlocksOfPlanes(g, target, std::min(planes, all), cores);
    if (best.steps == 0 || b.steps <= best.steps) best = std::move(b);
    if (planes >= all) break;
  }
  plan->block = std::move(best.block);
}

bool ReducesPlanesAlone(const Geometry& g) {
  return g.row_axis >= 0 && ReducesMajors(g) && !FoldsSublanes(g) &&
         !FoldsLanes(g) && !HasExpandedRows(g);
}

// Whether the XLU puts values of their own on all lanes of planes along the
// major: one of a row (mean and scale of a normalisation over planes).
bool BroadcastsLanes(const Geometry& g, int major) {
  return std::any_of(g.streams.begin(), g.streams.end(), [&](const Stream& s) {
    const bool one = s.lane_axis >= 0 || s.access == Access::kSplat;
    return s.node >= 0 && one && (s.lane_axis == major || s.row_axis == major);
  });
}

// ASSUMED: planes of up to so many base tiles share a body with others, and a
// body of them has so many, enough for the latency of the EUP (those of libtpu
// 0.0.42.1 have a step of them, of one column of tiles: 1,018 planes of
// f32[30522,8,512]).
constexpr int64_t kTilesOfPlane = 16;
constexpr int64_t kTilesOfPlanes = 64;
// Planes in a body that wait for the XLU each.
constexpr int64_t kPlanesThatWait = 16;

// Small planes (4 queries of a group, a batch of logits) follow one another in
// one block: alone, each would be the latency of its few operations. Those
// whose lanes are rotated wait for the XLU, too, and those whose value is put
// on all lanes, as long as a hundred tiles take.
void UnrollSmallPlanes(const Expression& e, const Geometry& g, int copies,
                       int vregs, NestPlan* plan) {
  const bool rotates =
      std::any_of(e.nodes.begin(), e.nodes.end(),
                  [](const ExprNode& n) { return n.first_lane > 0; });
  int64_t tiles = 1;
  for (int axis : {g.column_axis, g.row_axis}) {
    if (axis < 0) continue;
    if (plan->unroll[axis] < plan->block[axis] || g.axes[axis].reduced) return;
    tiles *= plan->unroll[axis];
  }
  int major = -1;
  for (int a : plan->order) {
    if (g.axes[a].kind == Axis::Kind::kMajor && !g.axes[a].reduced) major = a;
  }
  if (major < 0) return;
  const bool broadcasts = BroadcastsLanes(g, major);
  // As many as hide the latency of the EUP behind each other's work, and no
  // more planes than the XLU is worth waiting for.
  int64_t most = rotates ? 128 : kTilesOfPlanes;
  const int64_t together = broadcasts || rotates ? kPlanesThatWait : most;
  if (broadcasts) {
    // Their tiles are loaded meanwhile.
    most = std::max<int64_t>(rotates ? 128 : 16, vregs / 2);
  } else if (tiles > (rotates ? 8 : kTilesOfPlane)) {
    return;
  }
  most = std::min<int64_t>(copies, most);
  for (int64_t n = 2; n <= together && n * tiles <= most; ++n) {
    if (plan->block[major] % n == 0) plan->unroll[major] = n;
  }
}

}  // namespace

NestPlan OrderAxes(const Geometry& g) {
  NestPlan plan;
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t a = 0; a < g.axes.size(); ++a) {
      if (g.axes[a].reduced == (pass == 1)) {
        plan.order.push_back(static_cast<int>(a));
      }
    }
    if (pass == 0) plan.reduced_from = static_cast<int>(plan.order.size());
  }
  // Where fewer planes have each a value of their own on all lanes than would
  // follow one another in a block, it stays there for the others: statistics of
  // an image whose blocks are outer dimensions.
  std::stable_partition(
      plan.order.begin(), plan.order.begin() + plan.reduced_from, [&](int a) {
        return g.axes[a].kind == Axis::Kind::kMajor &&
               g.axes[a].tiles < kPlanesThatWait && BroadcastsLanes(g, a);
      });
  return plan;
}

absl::StatusOr<FusionTiling> CutFusion(const hlo::Instruction& i,
                                       const Expression& e, const Geometry& g,
                                       int64_t target, int copies, int vregs,
                                       int cores) {
  FusionTiling t;
  t.plan = OrderAxes(g);
  const bool rows_reduced = g.row_axis >= 0 && g.axes[g.row_axis].reduced;
  const bool grouped =
      HasExpandedRows(g) ||
      (g.row_axis >= 0 && rows_reduced != g.axes[g.column_axis].reduced);
  if (grouped && e.stages == 1) {
    const bool lone = i.opcode() != hlo::Opcode::kFusion;
    ChooseGroupedBlocks(g, target, rows_reduced && lone, cores, &t.plan);
  } else if (i.opcode() != hlo::Opcode::kFusion && ReducesPlanesAlone(g)) {
    ChoosePlaneBlocks(g, target, cores, &t.plan);
  } else {
    ChooseBlocks(g, target, HasExpandedRows(g) || ReducesRows(g), e.stages > 1,
                 cores, &t.plan);
  }
  t.plan.grid_dim.assign(g.axes.size(), -1);
  for (int axis : t.plan.order) {
    if (t.plan.block[axis] >= g.axes[axis].tiles) continue;
    t.plan.grid_dim[axis] = static_cast<int>(t.tiling.grid.size());
    t.tiling.grid.push_back(
        CeilOfRatio(g.axes[axis].tiles, t.plan.block[axis]));
  }
  // Unroll columns first, then rows; accumulators of kept columns beside
  // reduced rows stay in registers, so those are fewer.
  t.plan.unroll.assign(g.axes.size(), 1);
  int64_t room = copies;
  const bool columns_kept_rows_reduced = g.row_axis >= 0 &&
                                         g.axes[g.row_axis].reduced &&
                                         !g.axes[g.column_axis].reduced;
  for (int axis : {g.column_axis, g.row_axis}) {
    if (axis < 0) continue;
    const Axis& a = g.axes[axis];
    int64_t most = room;
    if (axis == g.column_axis && columns_kept_rows_reduced) {
      most = std::min<int64_t>(room, 8);
    }
    const int64_t units = std::max<int64_t>(1, most / a.unit);
    t.plan.unroll[axis] =
        a.unit * std::min(units, CeilOfRatio(t.plan.block[axis], a.unit));
    room = std::max<int64_t>(1, room / t.plan.unroll[axis]);
  }
  if (e.stages == 1) UnrollSmallPlanes(e, g, copies, vregs, &t.plan);
  t.tiling.flat =
      std::all_of(g.streams.begin(), g.streams.end(),
                  [](const Stream& s) { return s.array.rank() <= 1; });
  ASSIGN_OR_RETURN(t.tiling.args, KernelArgs(i));
  RETURN_IF_ERROR(MakeWindows(i, e, g, &t));
  std::string blocks;
  for (size_t a = 0; a < g.axes.size(); ++a) {
    absl::StrAppend(&blocks, a ? "x" : "", t.plan.block[a]);
  }
  t.tiling.note = absl::StrCat("tiles ", blocks, ", body of ", copies);
  return t;
}

}  // namespace ptxla::lowering
