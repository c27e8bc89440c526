// Reductions: fusions of kind kInput, and lone reduce instructions.
//
// One pass over the iteration space leaves one partial register per kept tile
// in scratch; reduction.cc makes results of them. Reduced axes may span several
// grid steps: partial registers then carry over.
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/fusion/column_sums.h"
#include "hlo_backend/lowering/fusion/fusion_tiling.h"
#include "hlo_backend/lowering/fusion/position_fold.h"
#include "hlo_backend/lowering/fusion/reduce_code.h"
#include "hlo_backend/lowering/fusion/reduce_windows.h"
#include "hlo_backend/lowering/fusion/reduced_planes.h"
#include "hlo_backend/lowering/kernel_emitter.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;

// Registers that a column of kept tiles holds while its rows are reduced: an
// accumulator for each result, and the values of the column.
int HeldByColumn(const Expression& e, const Geometry& g) {
  const int held = static_cast<int>(
      std::count_if(e.reduces.begin(), e.reduces.end(),
                    [](const auto* reduce) { return reduce != nullptr; }));
  return held + static_cast<int>(std::count_if(
                    g.streams.begin(), g.streams.end(), [&](const Stream& s) {
                      return s.node >= 0 && s.access == Access::kRowOfLanes;
                    }));
}

// Base tiles of a body. Kept tiles whose reduced ones lie further out are few:
// each has an accumulator. Sums of members pass through scratch, so that as
// many as a quarter of the registers share the values of their rows. Rows whose
// columns are reduced come 16 together, as they are transposed. Columns whose
// rows are reduced hold half of the registers, or a quarter in a body that is
// narrower than the widest: long formulas wait for the others.
void UnrollReduction(const Expression& e, const Geometry& g, int64_t room,
                     bool narrow, int vregs, NestPlan* plan) {
  const int share = narrow ? 4 : 2;
  bool majors = false;
  for (const Axis& a : g.axes) {
    majors |= a.kind == Axis::Kind::kMajor && a.reduced && a.tiles > 1;
  }
  constexpr int64_t kAccumulators = 8;
  plan->unroll.assign(g.axes.size(), 1);
  const auto take = [&](int axis, int64_t most, int64_t multiple) {
    const Axis& a = g.axes[axis];
    int64_t units = std::max<int64_t>(1, most / a.unit);
    const int64_t all = CeilOfRatio(plan->block[axis], a.unit);
    const int64_t together = std::max<int64_t>(1, multiple / a.unit);
    if (units < all && units > together) units -= units % together;
    plan->unroll[axis] = a.unit * std::min(units, all);
    room = std::max<int64_t>(1, room / plan->unroll[axis]);
  };
  const bool rows_reduced = g.row_axis >= 0 && g.axes[g.row_axis].reduced;
  const bool columns_kept = !g.axes[g.column_axis].reduced;
  int64_t kept = rows_reduced
                     ? std::clamp<int64_t>(vregs / share / HeldByColumn(e, g),
                                           1, kAccumulators)
                     : vregs / 4;
  const bool few_columns = columns_kept && (rows_reduced || majors);
  take(g.column_axis, few_columns ? std::min(room, kept) : room, 1);
  if (few_columns) {
    kept = std::max<int64_t>(1, kept / plan->unroll[g.column_axis]);
  }
  if (g.row_axis >= 0) {
    take(g.row_axis, !rows_reduced && majors ? std::min(room, kept) : room, 32);
  }
  // The sum over the rows of one column waits for itself, for the latency of an
  // addition: two planes take turns.
  const bool lone = rows_reduced && columns_kept && !g.linear &&
                    plan->unroll[g.column_axis] == 1;
  // Outer indices join where all within is one body.
  for (size_t k = plan->order.size(); k-- > 0;) {
    const int axis = plan->order[k];
    if (g.axes[axis].kind == Axis::Kind::kMajor) {
      const bool pairs = lone && !g.axes[axis].reduced && room == 1 &&
                         plan->block[axis] % 2 == 0;
      take(axis, pairs ? 2 : room, 1);
    }
    if (plan->unroll[axis] < plan->block[axis]) break;
  }
}

absl::Status PlanEpilogue(const KernelContext& context,
                          const hlo::Instruction& i, const Expression& main,
                          ReduceTiling* t) {
  ReduceEpilogue rest;
  ASSIGN_OR_RETURN(rest.e,
                   Expression::BuildEpilogue(i, main, t->reductions[0].result));
  ASSIGN_OR_RETURN(rest.g, Geometry::Of(rest.e, 0, i, context.model));
  rest.plan = OrderAxes(rest.g);
  rest.plan.grid_dim.assign(rest.g.axes.size(), -1);
  rest.plan.unroll.assign(rest.g.axes.size(), 1);
  for (const Axis& a : rest.g.axes) rest.plan.block.push_back(a.tiles);
  const int copies = std::max(1, UnrollCandidates(context, rest.g)[0] / 2);
  const Axis& columns = rest.g.axes[rest.g.column_axis];
  rest.plan.unroll[rest.g.column_axis] =
      columns.unit *
      std::max<int64_t>(
          1, std::min<int64_t>(copies / columns.unit, columns.units()));
  if (rest.g.row_axis >= 0) {
    rest.plan.unroll[rest.g.row_axis] = rest.g.axes[rest.g.row_axis].unit;
  }
  for (const Stream& s : rest.g.streams) {
    Place place;
    place.strides = s.strides;
    place.row_stride = s.array.row_stride();
    if (s.argument >= Expression::kReduced) {
      const int root = s.argument - Expression::kReduced;
      for (const Reduction& r : t->reductions) {
        if (r.root == root) place.scratch = r.result_scratch;
      }
    } else if (s.access == Access::kLaneOfRows) {
      return absl::UnimplementedError(absl::StrCat(
          i.name(), ": a value per row in the epilogue of a reduction"));
    } else {
      const bool in = s.node >= 0;
      const int arg = in ? s.argument : i.operand_count() + s.result;
      place.resident = t->cut.tiling.args[arg].space == isa::Space::kVmem;
      place.window =
          AddWholeWindow(arg, in ? isa::Direction::kIn : isa::Direction::kOut,
                         s.array, &t->cut.tiling);
    }
    rest.places.push_back(std::move(place));
  }
  t->epilogue = std::move(rest);
  return absl::OkStatus();
}

// Sizes of a step that are tried for a result that is not held whole; an
// ASSUMED bound on the search.
constexpr int kSizesTried = 16;

// Of VMEM, ASSUMED: what is smaller is stored at the end, at once, which takes
// little beside the steps that read what it is made of.
bool IsLarge(const KernelContext& context, const Reduction& r) {
  constexpr int64_t kShare = 16;
  return r.result.bytes() > VmemBudget(context) / kShare;
}

absl::StatusOr<ReduceTiling> CutReduction(const KernelContext& context,
                                          const hlo::Instruction& i,
                                          const Expression& e,
                                          const Geometry& g, int64_t target,
                                          int copies, bool narrow) {
  ReduceTiling t;
  const auto cut = [&](int64_t tiles) {
    return CutFusion(context, i, e, g, tiles, copies);
  };
  ASSIGN_OR_RETURN(t.cut, cut(target));
  for (size_t root = 0; root < e.roots.size(); ++root) {
    if (e.reduces[root] == nullptr || e.results[root] < 0) continue;
    ASSIGN_OR_RETURN(const Reduction r,
                     DescribeReduction(i, e, static_cast<int>(root)));
    // Too few planes for a tile of the result, or no whole tiles of them: steps
    // of other sizes.
    if (!IsLarge(context, r)) continue;
    if (const int64_t more = MissingPlanes(g, t.cut.plan, r); more > 1) {
      ASSIGN_OR_RETURN(t.cut, cut(target * more));
    }
    for (int k = kSizesTried - 1; k > 0 && !HasWholeRows(g, t.cut.plan, r);
         --k) {
      ASSIGN_OR_RETURN(t.cut, cut(target * k / kSizesTried));
    }
  }
  UnrollReduction(e, g, copies, narrow, context.model.vregs, &t.cut.plan);
  const int num_operands = i.operand_count();
  for (size_t root = 0; root < e.roots.size(); ++root) {
    if (e.reduces[root] == nullptr) continue;
    ASSIGN_OR_RETURN(Reduction r,
                     DescribeReduction(i, e, static_cast<int>(root)));
    for (size_t k = 0; k < t.reductions.size(); ++k) {
      if (t.reductions[k].root == e.extremum[root]) {
        r.extremum = static_cast<int>(k);
      }
    }
    if (r.extremum >= 0) {
      r.waiting = t.cut.tiling.scratch_bytes;
      t.cut.tiling.scratch_bytes +=
          PositionFold::kPlaces * PositionFold::kPlaceBytes;
    }
    r.strides.assign(g.axes.size(), 0);
    int64_t bytes = isa::kVregBytes;
    for (int a = static_cast<int>(g.axes.size()) - 1; a >= 0; --a) {
      if (g.axes[a].reduced) continue;
      r.strides[a] = bytes;
      bytes *= t.cut.plan.block[a];
    }
    r.scratch = t.cut.tiling.scratch_bytes;
    r.partial_bytes = bytes;
    t.cut.tiling.scratch_bytes += bytes;
    if (e.results[root] >= 0) {
      AddReducedWindow(num_operands + e.results[root], g, t.cut.plan,
                       IsLarge(context, r), &r, &t.cut.tiling);
    } else if (r.dense) {
      r.result_scratch = t.cut.tiling.scratch_bytes;
      t.cut.tiling.scratch_bytes +=
          RoundUpTo<int64_t>(r.result.bytes(), isa::kVregBytes);
    }
    t.reductions.push_back(std::move(r));
  }
  if (!e.epilogue.empty()) {
    RETURN_IF_ERROR(PlanEpilogue(context, i, e, &t));
  }
  RETURN_IF_ERROR(AddColumnSums(context, i, e, g, &t));
  for (size_t s = 0; s < g.streams.size(); ++s) {
    if (g.streams[s].access != Access::kPartial) continue;
    for (const Reduction& r : t.reductions) {
      if (g.streams[s].argument != Expression::kReduced + r.root) continue;
      t.cut.places[s].scratch = r.scratch;
      t.cut.places[s].strides = r.strides;
    }
  }
  for (size_t a = 0; a < g.axes.size(); ++a) {
    if (g.axes[a].reduced && t.cut.plan.grid_dim[a] >= 0) {
      t.reduced_grid.push_back(t.cut.plan.grid_dim[a]);
    }
  }
  std::sort(t.reduced_grid.begin(), t.reduced_grid.end());
  ShareReduction(g, context.model.cores, !e.epilogue.empty(), &t);
  // A masked store of the last row names a whole register of memory.
  t.cut.tiling.scratch_bytes += isa::kVregBytes;
  return t;
}

}  // namespace

absl::StatusOr<isa::Kernel> EmitReduceFusion(const KernelContext& context,
                                             const hlo::Instruction& i) {
  ASSIGN_OR_RETURN(const Expression e, Expression::Build(i));
  ASSIGN_OR_RETURN(const Geometry g,
                   Geometry::Of(e, ReducedDims(e), i, context.model));
  const int widest = UnrollCandidates(context, g)[0];
  const auto make = [&](int copies, int64_t target,
                        bool spills) -> absl::StatusOr<Tiling> {
    ASSIGN_OR_RETURN(ReduceTiling cut, CutReduction(context, i, e, g, target,
                                                    copies, copies < widest));
    cut.thrifty = spills;
    cut.grid_dims = static_cast<int>(cut.cut.tiling.grid.size());
    Tiling tiling = std::move(cut.cut.tiling);
    tiling.body =
        [&e, &g, cut = std::make_shared<ReduceTiling>(std::move(cut))](
            CodeBuilder& b) { return WriteReduceStep(e, g, *cut, b); };
    return tiling;
  };
  return EmitWidestThatFits(context, i, g, make);
}

}  // namespace ptxla::lowering
