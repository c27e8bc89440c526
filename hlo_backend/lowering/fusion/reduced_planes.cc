#include "hlo_backend/lowering/fusion/reduced_planes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/units.h"
#include "hlo_backend/lowering/fusion/fusion_windows.h"
#include "hlo_backend/lowering/fusion/geometry_facts.h"

namespace ptxla::lowering {
namespace {

// The planes that are the rows of the result, if the grid parts them; else -1.
int PartedRows(const Geometry& g, const NestPlan& plan, const Reduction& r) {
  const std::vector<int> majors = KeptMajors(g);
  if (FoldsSublanes(g) == FoldsLanes(g) || g.linear || r.result.rank() <= 1 ||
      r.result.rows <= 1 || majors.empty()) {
    return -1;
  }
  const int rows = majors.back();
  const bool parted =
      plan.grid_dim[rows] >= 0 && g.axes[rows].tiles == r.result.rows;
  return parted ? rows : -1;
}

}  // namespace

bool AddPlanesWindow(int arg, const Geometry& g, const NestPlan& plan,
                     Reduction* r, Tiling* tiling) {
  const PhysicalArray& a = r->result;
  if (FoldsSublanes(g) == FoldsLanes(g) || g.linear || a.rank() <= 1) {
    return false;
  }
  for (size_t x = 0; x < g.axes.size(); ++x) {
    if (g.axes[x].reduced && plan.grid_dim[x] >= 0) return false;
  }
  std::vector<isa::WindowDim> dims;
  std::vector<Reduction::StepBytes> before;
  int64_t slot = a.row_stride();
  bool part = false, fits = true;
  const auto add = [&](int axis, int64_t in_unit, int64_t extent,
                       int64_t stride) {
    isa::WindowDim d;
    d.extent = extent;
    d.hbm_stride = d.vmem_stride = stride;
    d.grid_dim = plan.grid_dim[axis];
    const int64_t block = plan.block[axis];
    d.block = extent;
    if (d.grid_dim >= 0) {
      // Several steps may fill a tile, one after another.
      d.block = std::max<int64_t>(block / in_unit, 1);
      d.grid_divisor = std::max<int64_t>(in_unit / block, 1);
      fits &= d.block * in_unit == d.grid_divisor * block;
    }
    fits &= !part || d.block == 1;
    if (!part) slot = d.block * stride;
    if (d.grid_dim >= 0) {
      part = true;
      before.push_back({d.grid_dim, d.block * stride, CeilLog2(d.grid_divisor),
                        block * d.grid_divisor});
    }
    dims.push_back(d);
  };
  std::vector<int> majors = KeptMajors(g);
  if (a.rows > 1) {
    if (majors.empty() || g.axes[majors.back()].tiles != a.rows) return false;
    add(majors.back(), a.tile_rows, a.tiles_down, a.row_stride());
    majors.pop_back();
  }
  int64_t stride = a.plane_stride(), planes = 1;
  for (size_t k = majors.size(); k-- > 0;) {
    const int64_t tiles = g.axes[majors[k]].tiles;
    add(majors[k], 1, tiles, stride);
    stride *= tiles;
    planes *= tiles;
  }
  if (!fits || !part || planes != a.planes) return false;
  // All columns are there while steps walk over them.
  const int columns = FoldsSublanes(g) ? g.column_axis : g.row_axis;
  const int across = columns < 0 ? -1 : plan.grid_dim[columns];
  for (const Reduction::StepBytes& step : before) {
    if (across >= 0 && across < step.grid_dim) return false;
  }
  isa::Window w;
  w.arg = arg;
  w.direction = isa::Direction::kOut;
  SetDims(dims, a.row_stride(), &w);
  if (w.dims.size() > isa::kMaxWindowDims) return false;
  // A masked store of the last row names a whole register of memory.
  w.slot_bytes = RoundUpTo<int64_t>(slot, isa::kVregBytes) + isa::kVregBytes;
  tiling->windows.push_back(std::move(w));
  r->window = static_cast<int>(tiling->windows.size()) - 1;
  r->before = std::move(before);
  return true;
}

int64_t MissingPlanes(const Geometry& g, const NestPlan& plan,
                      const Reduction& r) {
  const int rows = PartedRows(g, plan, r);
  if (rows < 0 || r.result.tile_rows % plan.block[rows] == 0) return 1;
  return CeilOfRatio(r.result.tile_rows, plan.block[rows]);
}

bool HasWholeRows(const Geometry& g, const NestPlan& plan, const Reduction& r) {
  const int rows = PartedRows(g, plan, r);
  return rows < 0 || plan.block[rows] % r.result.tile_rows == 0 ||
         r.result.tile_rows % plan.block[rows] == 0;
}

}  // namespace ptxla::lowering
