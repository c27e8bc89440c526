#include "hlo_backend/lowering/fusion/fusion_tiling.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/fusion/fusion_windows.h"
#include "hlo_backend/lowering/fusion/geometry_facts.h"
#include "hlo_backend/lowering/fusion/step_blocks.h"
#include "hlo_backend/lowering/fusion/step_targets.h"
#include "hlo_backend/lowering/kernel_emitter.h"

namespace ptxla::lowering {
namespace {

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
  const int64_t planes = plan->block[major];
  const int64_t limit =
      std::min({planes, together, std::max<int64_t>(1, most / tiles)});
  // Equal bodies, or where the number of planes has no such divisor, a smaller
  // one for the last of them.
  int64_t equal = limit;
  while (planes % equal != 0) --equal;
  plan->unroll[major] = 2 * equal >= limit ? equal : limit;
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

absl::StatusOr<FusionTiling> CutFusion(const KernelContext& context,
                                       const hlo::Instruction& i,
                                       const Expression& e, const Geometry& g,
                                       int64_t target, int copies) {
  FusionTiling t;
  t.plan = OrderAxes(g);
  t.plan.block = StepBlocks(context.chip, g,
                            {target, MostTilesOfStep(context, g, target),
                             context.model.cores, e.stages > 1});
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
  // Whole rows of 128 values: the body can put them on all lanes itself.
  if (HasExpandedRows(g) && g.row_axis >= 0) {
    int64_t& rows = t.plan.unroll[g.row_axis];
    if (rows > RowGroup(g) && rows < t.plan.block[g.row_axis]) {
      rows -= rows % RowGroup(g);
    }
  }
  if (e.stages == 1)
    UnrollSmallPlanes(e, g, copies, context.model.vregs, &t.plan);
  t.tiling.flat =
      std::all_of(g.streams.begin(), g.streams.end(),
                  [](const Stream& s) { return s.array.rank() <= 1; });
  ASSIGN_OR_RETURN(t.tiling.args, KernelArgs(i));
  RETURN_IF_ERROR(MakeWindows(i, e, g, context.model.vregs, &t));
  std::string blocks;
  for (size_t a = 0; a < g.axes.size(); ++a) {
    absl::StrAppend(&blocks, a ? "x" : "", t.plan.block[a]);
  }
  t.tiling.note = absl::StrCat("tiles ", blocks, ", body of ", copies);
  return t;
}

}  // namespace ptxla::lowering
