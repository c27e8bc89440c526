#include "hlo_backend/lowering/products/core_parts.h"

#include <array>
#include <numeric>

#include "base/units.h"
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

int64_t Both(int64_t x, int64_t y) {
  return x == 0 || y == 0 ? 0 : std::lcm(x, y);
}

// Steps of the first core, and of the one that has most. Core c begins with
// step bound * c / cores.
int64_t FirstSteps(int64_t bound, int cores) { return bound / cores; }
int64_t MostSteps(int64_t bound, int cores) {
  return CeilOfRatio<int64_t>(bound, cores);
}

// A dimension that moves from core to core, in units; `of_step` is a step's
// part of `in_unit` to a unit. A first part that is smaller begins in front of
// the array.
isa::WindowDim PartOf(int64_t of_step, int64_t in_unit, int64_t extent,
                      int64_t stride, const GridDims& grid) {
  const int64_t bound = grid.bounds[grid.megacore_dim];
  const int64_t first = FirstSteps(bound, grid.sharers);
  const int64_t most = MostSteps(bound, grid.sharers);
  isa::WindowDim d;
  d.block = CeilOfRatio(most * of_step, in_unit);
  d.origin = first * of_step / in_unit - d.block;
  if (first == most) d.origin = 0;
  d.extent = extent;
  d.hbm_stride = d.vmem_stride = stride;
  d.grid_dim = grid.megacore_dim;
  d.grid_divisor = first == most ? first : 1;
  if (first == most) return d;
  for (int64_t s = 0; s < bound; ++s) d.table.push_back(s < first ? 0 : 1);
  return d;
}

}  // namespace

void KeptResults::Add(const PhysicalArray& result, bool of_rows) {
  KeptResults r;
  r.members = result.rank() < 2 ? 0 : MembersOfPart(result);
  (of_rows ? r.rows : r.columns) = isa::kLanes;
  if (any) {
    r.members = Both(members, r.members);
    r.rows = Both(rows, r.rows);
    r.columns = Both(columns, r.columns);
  }
  r.any = true;
  *this = r;
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
    // Parts of more than two cores have to be of one size.
    const bool whole =
        !kept.any || (d.unit > 0 && (d.bound % cores == 0 || cores == 2) &&
                      FirstSteps(d.bound, cores) * d.block % d.unit == 0);
    if (d.bound > 1 && whole) return {d.axis, d.bound};
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
    w.dims = {PartOf(t.block_b, MembersOfPart(a),
                     plane ? a.tiles_down : a.planes, w.inner_bytes, grid)};
    return w;
  }
  // Of one dimension, 128 values after another; else a tile of each line.
  const bool linear = a.rank() < 2;
  isa::WindowDim lines;
  lines.block = lines.extent = linear ? 1 : a.planes * a.tiles_down;
  lines.hbm_stride = lines.vmem_stride = a.row_stride();
  w.inner_bytes = linear ? isa::kRowBytes : a.tile_bytes();
  w.dims = {lines, PartOf(grid.megacore_dim == grid.m ? t.block_m : t.block_n,
                          isa::kLanes,
                          linear ? a.bytes() / isa::kRowBytes : a.tiles_across,
                          w.inner_bytes, grid)};
  return w;
}

Sca KeptBase(const isa::Window& w, int number, const GridDims& grid,
             CodeBuilder& b) {
  const Sca start = b.NewSca();
  b.WindowAddress(start, number);
  Sca base = start;
  for (const isa::WindowDim& d : w.dims) {
    if (d.grid_dim < 0) continue;
    const Sca index = b.NewSca();
    b.GridIndex(index, d.grid_dim);
    base = b.SAddImm(base, static_cast<int32_t>(-d.origin * d.hbm_stride));
    const auto back = static_cast<int32_t>(-d.block * d.hbm_stride);
    for (int core = 1; core < grid.sharers; ++core) {
      const auto begins =
          static_cast<int32_t>(grid.bounds[d.grid_dim] * core / grid.sharers);
      const codegen::Pred below =
          b.SCompareImm(isa::Opcode::kScmpLtU, index, begins);
      // Of a later core: one part more lies in front.
      base = b.SAdd(base, b.SSelectImm(below, b.SImm(0), back));
    }
  }
  b.SetBank(base, codegen::kUnknownBanks, 0);
  return base;
}

}  // namespace ptxla::lowering
