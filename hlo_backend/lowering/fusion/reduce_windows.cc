#include "hlo_backend/lowering/fusion/reduce_windows.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/units.h"
#include "hlo_backend/lowering/core_window.h"
#include "hlo_backend/lowering/fusion/fusion_windows.h"
#include "hlo_backend/lowering/fusion/geometry_facts.h"
#include "hlo_backend/lowering/fusion/reduced_planes.h"

namespace ptxla::lowering {
namespace {

// The axis that a dense 1-D result follows, if its blocks are whole words of
// rows of 128; -1: none.
int LinearAxis(const Reduction& r, const Geometry& g, const NestPlan& plan) {
  const PhysicalArray& a = r.result;
  int kept = -1;
  for (size_t x = 0; x < g.axes.size(); ++x) {
    if (g.axes[x].reduced) continue;
    if (kept >= 0 || g.axes[x].kind == Axis::Kind::kMajor) return -1;
    kept = static_cast<int>(x);
  }
  if (kept < 0 || g.linear || a.rank() != 1 || plan.grid_dim[kept] < 0) {
    return -1;
  }
  const int64_t in_word = (kept == g.row_axis ? 16 : 1) * a.packing;
  return plan.block[kept] % in_word == 0 ? kept : -1;
}

void AddLinearWindow(int arg, const Geometry& g, const NestPlan& plan,
                     Reduction* r, Tiling* tiling) {
  const int axis = r->moves_along;
  const int64_t rows =
      plan.block[axis] / (axis == g.row_axis ? 16 : 1) / r->result.packing;
  isa::Window w;
  w.arg = arg;
  w.direction = isa::Direction::kOut;
  w.inner_bytes = isa::kRowBytes;
  isa::WindowDim d;
  d.block = rows;
  d.extent = CeilOfRatio<int64_t>(r->result.bytes(), isa::kRowBytes);
  d.vmem_stride = d.hbm_stride = isa::kRowBytes;
  d.grid_dim = plan.grid_dim[axis];
  w.dims.push_back(d);
  w.slots = 2;
  // A masked store of the last row names a whole register of memory.
  w.slot_bytes = RoundUpTo<int64_t>(rows * isa::kRowBytes, isa::kVregBytes) +
                 isa::kVregBytes;
  tiling->windows.push_back(std::move(w));
  r->window = static_cast<int>(tiling->windows.size()) - 1;
}

bool IsWholeTiles(const Reduction& r, const Geometry& g) {
  const PhysicalArray& a = r.result;
  if (FoldsSublanes(g) || FoldsLanes(g) || g.linear || a.rank() <= 1 ||
      a.tile_rows != g.base_rows) {
    return false;
  }
  int64_t planes = 1;
  for (int axis : KeptMajors(g)) planes *= g.axes[axis].tiles;
  const int64_t down = g.row_axis >= 0 ? g.axes[g.row_axis].tiles : 1;
  return planes == a.planes && down == a.tiles_down &&
         g.axes[g.column_axis].tiles == a.tiles_across;
}

// False: nothing moves, or in too many dimensions.
bool AddTilesWindow(int arg, const Geometry& g, const NestPlan& plan,
                    Reduction* r, Tiling* tiling) {
  const PhysicalArray& a = r->result;
  std::vector<int64_t> strides(g.axes.size(), 0);
  std::vector<isa::WindowDim> dims;
  int64_t slot = a.tile_bytes(), in_array = a.tile_bytes();
  bool moves = false;
  const auto add = [&](int axis) {
    isa::WindowDim d;
    d.extent = g.axes[axis].tiles;
    d.hbm_stride = in_array;
    d.vmem_stride = strides[axis] = slot;
    d.grid_dim = plan.grid_dim[axis];
    d.block = d.grid_dim >= 0 ? plan.block[axis] : d.extent;
    moves |= d.grid_dim >= 0;
    in_array *= d.extent;
    slot *= RoundUpTo(plan.block[axis], g.axes[axis].unit);
    dims.push_back(d);
  };
  add(g.column_axis);
  if (g.row_axis >= 0) add(g.row_axis);
  const std::vector<int> majors = KeptMajors(g);
  for (size_t k = majors.size(); k-- > 0;) add(majors[k]);
  isa::Window w;
  w.arg = arg;
  w.direction = isa::Direction::kOut;
  SetDims(dims, a.tile_bytes(), &w);
  if (!moves || w.dims.size() > isa::kMaxWindowDims) return false;
  w.slot_bytes = RoundUpTo<int64_t>(slot, isa::kVregBytes);
  // A store of a small tile names a whole register of memory.
  if (a.tile_bytes() < isa::kVregBytes) w.slot_bytes += isa::kVregBytes;
  tiling->windows.push_back(std::move(w));
  r->window = static_cast<int>(tiling->windows.size()) - 1;
  r->moving = std::move(strides);
  return true;
}

// How a whole result is cut between steps along an axis: a step makes `of_step`
// pieces, of which `in_word` share words and `in_unit` a unit of the window, of
// `extent` units, `stride` bytes apart.
struct Cut {
  int64_t of_step = 1, in_unit = 1, in_word = 1, extent = 1, stride = 0;
};

// Nothing: it is not.
std::optional<Cut> CutAlong(int axis, const Reduction& r, const Geometry& g,
                            const NestPlan& plan) {
  const PhysicalArray& a = r.result;
  const bool rows_reduced = FoldsSublanes(g);
  if (a.rank() <= 1 || rows_reduced == FoldsLanes(g)) return std::nullopt;
  const int64_t block = plan.block[axis];
  if (axis == (rows_reduced ? g.column_axis : g.row_axis)) {
    const int64_t in_unit = rows_reduced ? 1 : 16;
    return Cut{block, in_unit, in_unit, a.tiles_across, a.tile_bytes()};
  }
  // The innermost major is the rows of the result, if it has several.
  std::vector<int> planes = KeptMajors(g);
  if (a.rows > 1) {
    if (planes.empty() || g.axes[planes.back()].tiles != a.rows) {
      return std::nullopt;
    }
    if (axis == planes.back()) {
      return Cut{block, a.tile_rows, a.packing, a.tiles_down, a.row_stride()};
    }
    planes.pop_back();
  }
  Cut cut = {block, 1, 1, g.axes[axis].tiles, a.plane_stride()};
  int64_t all = 1;
  bool within = false;
  for (int major : planes) {
    if (within) cut.stride *= g.axes[major].tiles;
    within |= major == axis;
    all *= g.axes[major].tiles;
  }
  if (!within || all != a.planes) return std::nullopt;
  return cut;
}

bool IsResident(const Reduction& r, const Tiling& tiling) {
  return r.window >= 0 &&
         tiling.args[tiling.windows[r.window].arg].space == isa::Space::kVmem;
}

// Cores may share the steps along the axis, for all that `r` knows.
bool MayShare(int axis, const SharedSteps& steps, const Reduction& r,
              const Geometry& g, const ReduceTiling& t) {
  if (r.window < 0 && !r.dense) return true;
  if (!r.moving.empty()) return true;
  if (!r.before.empty()) {
    return std::any_of(r.before.begin(), r.before.end(), [&](const auto& step) {
      return step.grid_dim == steps.grid_dim &&
             steps.HasBorder(t.cut.plan.block[axis], step.planes);
    });
  }
  if (r.result.rank() <= 1) return LinearAxis(r, g, t.cut.plan) == axis;
  const bool resident = IsResident(r, t.cut.tiling);
  if (IsWholeTiles(r, g)) return resident;
  const std::optional<Cut> cut = CutAlong(axis, r, g, t.cut.plan);
  // Others read it where it lies: no tile of it is stored twice.
  return cut.has_value() &&
         steps.HasBorder(cut->of_step, resident ? cut->in_word : cut->in_unit);
}

// The window is of what is reduced, or made of that in the last step.
bool IsOfReduced(int window, const ReduceTiling& t) {
  const auto is = [&](const auto& x) { return x.window == window; };
  return std::any_of(t.reductions.begin(), t.reductions.end(), is) ||
         std::any_of(t.of_columns.begin(), t.of_columns.end(), is) ||
         (t.epilogue && std::any_of(t.epilogue->places.begin(),
                                    t.epilogue->places.end(), is));
}

// Every other array that the kernel writes moves along.
bool OthersMove(int grid_dim, const ReduceTiling& t) {
  const std::vector<isa::Window>& windows = t.cut.tiling.windows;
  for (size_t k = 0; k < windows.size(); ++k) {
    const isa::Window& w = windows[k];
    if (IsOfReduced(static_cast<int>(k), t) ||
        w.direction == isa::Direction::kIn ||
        t.cut.tiling.args[w.arg].space == isa::Space::kVmem) {
      continue;
    }
    if (std::none_of(
            w.dims.begin(), w.dims.end(),
            [&](const isa::WindowDim& d) { return d.grid_dim == grid_dim; })) {
      return false;
    }
  }
  return true;
}

}  // namespace

int AddWholeWindow(int arg, isa::Direction direction,
                   const PhysicalArray& array, Tiling* tiling) {
  isa::Window w;
  w.arg = arg;
  w.direction = direction;
  w.inner_bytes = array.bytes();
  w.slots = 1;
  w.slot_bytes = RoundUpTo<int64_t>(w.inner_bytes, isa::kVregBytes);
  tiling->windows.push_back(std::move(w));
  return static_cast<int>(tiling->windows.size()) - 1;
}

void AddReducedWindow(int arg, const Geometry& g, const NestPlan& plan,
                      bool large, Reduction* r, Tiling* tiling) {
  if (tiling->args[arg].space != isa::Space::kVmem) {
    r->moves_along = LinearAxis(*r, g, plan);
    if (r->moves_along >= 0) {
      AddLinearWindow(arg, g, plan, r, tiling);
      return;
    }
    if (IsWholeTiles(*r, g) && AddTilesWindow(arg, g, plan, r, tiling)) return;
    if (large && AddPlanesWindow(arg, g, plan, r, tiling)) return;
  }
  r->window = AddWholeWindow(arg, isa::Direction::kOut, r->result, tiling);
}

namespace {

SharedSteps StepsAlong(int axis, int cores, const ReduceTiling& t) {
  const int dim = t.cut.plan.grid_dim[axis];
  return {t.cut.tiling.grid[dim], dim, cores};
}

// The kept axis that cores share, -1: none can be.
int SharedAxis(const Geometry& g, int cores, const ReduceTiling& t) {
  std::vector<int> axes;
  std::vector<int64_t> bounds;
  for (int axis : t.cut.plan.order) {
    if (g.axes[axis].reduced || t.cut.plan.grid_dim[axis] < 0) continue;
    const SharedSteps steps = StepsAlong(axis, cores, t);
    const bool all = std::all_of(
        t.reductions.begin(), t.reductions.end(),
        [&](const Reduction& r) { return MayShare(axis, steps, r, g, t); });
    if (!all || !OthersMove(steps.grid_dim, t)) continue;
    axes.push_back(axis);
    bounds.push_back(steps.bound);
  }
  const int best = SharedDim(bounds, cores);
  return best < 0 ? -1 : axes[best];
}

// False: no kept axis can be shared.
bool ShareKept(const Geometry& g, int cores, ReduceTiling* t) {
  const int axis = SharedAxis(g, cores, *t);
  if (axis < 0) return false;
  const SharedSteps steps = StepsAlong(axis, cores, *t);
  Tiling& tiling = t->cut.tiling;
  tiling.megacore_dim = steps.grid_dim;
  if (cores == 1) return true;
  for (Reduction& r : t->reductions) {
    if (r.window < 0 || r.moves_along >= 0 || !r.moving.empty() ||
        !r.before.empty()) {
      continue;
    }
    isa::Window& w = tiling.windows[r.window];
    const std::optional<Cut> cut = CutAlong(axis, r, g, t->cut.plan);
    if (!cut || IsResident(r, tiling)) continue;
    r.shared = steps;
    r.part =
        CorePart(steps, cut->of_step, cut->in_unit, cut->extent, cut->stride);
    isa::WindowDim outer;
    outer.hbm_stride = outer.vmem_stride = cut->extent * cut->stride;
    outer.block = outer.extent = r.result.bytes() / outer.hbm_stride;
    w.dims = {outer, r.part};
    w.inner_bytes = cut->stride;
  }
  // What columns reduce to, each core has of its own rows.
  for (Reduction& r : t->of_columns) {
    r.peer = PeerParts::Add(r.scratch, r.partial_bytes, &tiling);
    t->exchanged_dim = tiling.megacore_dim;
  }
  return true;
}

// Shares the outermost reduced dimension of the grid.
void ShareReduced(int cores, ReduceTiling* t) {
  Tiling& tiling = t->cut.tiling;
  const bool positions =
      std::any_of(t->reductions.begin(), t->reductions.end(),
                  [](const Reduction& r) { return r.extremum >= 0; });
  if (cores != 2 || t->reduced_grid.empty() || positions ||
      !t->of_columns.empty() || !OthersMove(t->reduced_grid[0], *t)) {
    return;
  }
  tiling.megacore_dim = t->exchanged_dim = t->reduced_grid[0];
  // Each step of the kept dimensions has parts of its own.
  std::vector<int> kept;
  for (int d = 0; d < static_cast<int>(tiling.grid.size()); ++d) {
    const auto& reduced = t->reduced_grid;
    if (std::find(reduced.begin(), reduced.end(), d) == reduced.end()) {
      kept.push_back(d);
    }
  }
  for (Reduction& r : t->reductions) {
    r.peer = PeerParts::Add(r.scratch, r.partial_bytes, &tiling, kept);
  }
}

}  // namespace

void ShareReduction(const Geometry& g, int cores, bool whole, ReduceTiling* t) {
  if (whole || !ShareKept(g, cores, t)) ShareReduced(cores, t);
}

}  // namespace ptxla::lowering
