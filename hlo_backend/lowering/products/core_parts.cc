#include "hlo_backend/lowering/products/core_parts.h"

#include <array>
#include <numeric>

#include "base/units.h"
#include "hlo_backend/lowering/core_window.h"
#include "hlo_backend/lowering/products/product_operands.h"
#include "hlo_backend/lowering/products/product_tiling.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;

namespace {

// Lines of one plane lie in rows of tiles; several planes follow one another.
int64_t MembersOfPart(const PhysicalArray& a) {
  return a.planes == 1 ? a.tile_rows : a.rows;
}

int64_t PartsOfBoth(int64_t x, int64_t y) {
  return x == 0 || y == 0 ? 0 : std::lcm(x, y);
}

SharedSteps StepsOf(const GridDims& grid) {
  return {grid.bounds[grid.megacore_dim], grid.megacore_dim, grid.sharers};
}

}  // namespace

void KeptResults::Add(const PhysicalArray& result, bool of_rows) {
  KeptResults r;
  r.members = result.rank() < 2 ? 0 : MembersOfPart(result);
  (of_rows ? r.rows : r.columns) = isa::kLanes;
  if (any) {
    r.members = PartsOfBoth(members, r.members);
    r.rows = PartsOfBoth(rows, r.rows);
    r.columns = PartsOfBoth(columns, r.columns);
  }
  any = true;
  members = r.members;
  rows = r.rows;
  columns = r.columns;
}

CoreShare CoreShare::Of(const KeptResults& kept, const ProductTile& t,
                        int cores) {
  struct Dim {
    Axis axis;
    int64_t bound, block, unit;
  };
  const Dim b = {Axis::kBatch, t.grid_b, t.block_b, kept.members};
  const Dim m = {Axis::kRows, t.grid_m, t.block_m, kept.rows};
  const Dim n = {Axis::kColumns, t.grid_n, t.block_n, kept.columns};
  const Dim& outer = t.n_inner ? m : n;
  const Dim& inner = t.n_inner ? n : m;
  const std::array<Dim, 3> dims = t.b_inner
                                      ? std::array<Dim, 3>{outer, inner, b}
                                      : std::array<Dim, 3>{b, outer, inner};
  for (const Dim& d : dims) {
    const SharedSteps steps = {d.bound, -1, cores};
    const bool whole = !kept.any || kept.exchanged ||
                       (d.unit > 0 && steps.HasBorder(d.block, d.unit));
    if (d.bound > 1 && whole) return {d.axis, d.bound};
  }
  const bool one_block = t.grid_b * t.grid_m * t.grid_n == 1;
  if (cores == 2 && one_block && kept.depth && !kept.any && t.grid_k > 1 &&
      t.k_planes == 1) {
    return {Axis::kDepth, t.grid_k};
  }
  return {};
}

isa::Window KeptWindow(const PhysicalArray& a, int arg, const ProductTile& t,
                       const GridDims& grid) {
  isa::Window w;
  w.arg = arg;
  w.direction = isa::Direction::kOut;
  w.slots = 1;
  w.inner_bytes = a.bytes();
  w.slot_bytes = RoundUpTo<int64_t>(a.bytes(), isa::kVregBytes);
  if (grid.sharers == 1) return w;
  if (grid.megacore_dim == grid.b) {
    const bool plane = a.planes == 1;
    w.inner_bytes = plane ? a.row_stride() : a.plane_stride();
    w.dims = {CorePart(StepsOf(grid), t.block_b, MembersOfPart(a),
                       plane ? a.tiles_down : a.planes, w.inner_bytes)};
    return w;
  }
  // Of one dimension, 128 values after another; else a tile of each line.
  const bool linear = a.rank() < 2;
  isa::WindowDim lines;
  lines.block = lines.extent = linear ? 1 : a.planes * a.tiles_down;
  lines.hbm_stride = lines.vmem_stride = a.row_stride();
  w.inner_bytes = linear ? isa::kRowBytes : a.tile_bytes();
  w.dims = {
      lines,
      CorePart(StepsOf(grid),
               grid.megacore_dim == grid.m ? t.block_m : t.block_n, isa::kLanes,
               linear ? a.bytes() / isa::kRowBytes : a.tiles_across,
               w.inner_bytes)};
  return w;
}

Sca KeptBase(const isa::Window& w, int number, const GridDims& grid,
             CodeBuilder& b) {
  const Sca start = b.NewSca();
  b.WindowAddress(start, number);
  Sca base = start;
  for (const isa::WindowDim& d : w.dims) {
    if (d.grid_dim < 0) continue;
    base = WholeBase(base, d, StepsOf(grid), b);
  }
  b.SetBank(base, codegen::kUnknownBanks, 0);
  return base;
}

}  // namespace ptxla::lowering
