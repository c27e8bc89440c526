// Windows of a product's operands and results, and where their blocks lie.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/units.h"
#include "hlo_backend/analysis/member_rows.h"
#include "hlo_backend/lowering/products/product_operands.h"
#include "isa/program.h"
#include "isa/vmem_banks.h"

namespace ptxla::lowering {

GridDims GridDims::Of(const ProductTile& t) {
  GridDims g;
  const int first = t.b_inner ? 0 : 1;
  g.m = t.n_inner ? first : first + 1;
  g.n = t.n_inner ? first + 1 : first;
  if (t.b_inner) g.b = 2;
  if (t.k_planes > 1) g.k_planes = g.k++;
  g.bounds.assign(g.k + 1, 1);
  g.bounds[g.b] = t.grid_b;
  g.bounds[g.m] = t.grid_m;
  g.bounds[g.n] = t.grid_n;
  g.bounds[g.k] = t.grid_k / t.k_planes;
  if (t.k_planes > 1) g.bounds[g.k_planes] = t.k_planes;
  for (int dim : {0, 1, 2}) {
    if (g.bounds[dim] > 1) {
      g.megacore_dim = dim;
      break;
    }
  }
  return g;
}

void GridDims::Share(const KeptResults& kept, const ProductTile& tile,
                     int cores) {
  const CoreShare::Axis axis = cores == 1
                                   ? CoreShare::Axis::kNone
                                   : CoreShare::Of(kept, tile, cores).axis;
  megacore_dim = axis == CoreShare::Axis::kBatch     ? b
                 : axis == CoreShare::Axis::kRows    ? m
                 : axis == CoreShare::Axis::kColumns ? n
                 : axis == CoreShare::Axis::kDepth   ? k
                                                     : -1;
  sharers = kept.any && !kept.exchanged && megacore_dim >= 0 ? cores : 1;
}

namespace {

// Bytes of a whole tile in VMEM.
int64_t FullTileBytes(const MatrixView& v) {
  return v.tile_rows * 128 * hlo::BitWidth(v.type) / 8;
}

// A window over planes, rows of tiles and tiles of a row.
isa::Window MakeWindow(const MatrixView& v, int arg, isa::Direction direction,
                       int64_t block_b, int64_t block_rows,
                       int64_t block_columns, int grid_b, int grid_rows,
                       int grid_columns) {
  const int64_t tile = FullTileBytes(v);
  isa::Window w;
  w.arg = arg;
  w.direction = direction;
  isa::WindowDim planes, rows, columns;
  // An array with fewer planes than the product's batch is shared by all.
  planes.block = v.planes == 1 ? 1 : block_b;
  planes.extent = v.planes;
  planes.hbm_stride = v.plane_stride;
  planes.grid_dim = v.planes == 1 ? -1 : grid_b;
  rows.block = CeilOfRatio<int64_t>(block_rows, v.tile_rows);
  rows.extent = CeilOfRatio<int64_t>(v.rows, v.tile_rows);
  rows.hbm_stride = v.row_stride;
  rows.grid_dim = grid_rows;
  columns.block = CeilOfRatio<int64_t>(block_columns, 128);
  columns.extent = CeilOfRatio<int64_t>(v.columns, 128);
  columns.hbm_stride = v.tile_bytes;
  columns.grid_dim = grid_columns;
  columns.vmem_stride = tile;
  rows.vmem_stride = columns.block * tile;
  // A block may end within a register: its last one is loaded and stored whole.
  const int64_t of_register = std::max<int64_t>(1, 16 / v.tile_rows);
  planes.vmem_stride = RoundUpTo(rows.block, of_register) * rows.vmem_stride;
  w.slot_bytes = planes.block * planes.vmem_stride;
  // Part of a tile of bytes is loaded as a whole register.
  if (hlo::BitWidth(v.type) == 8) w.slot_bytes += isa::kVregBytes;
  w.inner_bytes = v.tile_bytes;
  w.dims = {planes, rows, columns};
  return w;
}

// The planes of a window are those of two axes.
void PartPlanes(const GridDims& g, isa::Window* w) {
  const isa::WindowDim planes = w->dims[0];
  isa::WindowDim outer = planes, inner = planes;
  outer.block = g.planes[0].block;
  outer.extent = g.planes[0].extent;
  outer.grid_dim = g.planes[0].grid_dim;
  inner.block = g.planes[1].block;
  inner.extent = g.planes[1].extent;
  inner.grid_dim = g.planes[1].grid_dim;
  outer.hbm_stride = inner.extent * planes.hbm_stride;
  outer.vmem_stride = inner.block * planes.vmem_stride;
  w->dims[0] = inner;
  w->dims.insert(w->dims.begin(), outer);
}

// A window over batch members in the rows of tiles: the other batch dimensions,
// rows, tiles of 8 members, tiles of a row.
isa::Window MakeMemberWindow(const MatrixView& v, int arg, int64_t block_b,
                             int64_t steps_b, int64_t block_rows,
                             int64_t block_columns, int grid_b, int grid_rows,
                             int grid_columns) {
  isa::Window w;
  w.arg = arg;
  w.direction = isa::Direction::kIn;
  isa::WindowDim planes, rows, members, columns;
  planes.extent = v.planes / v.members;
  planes.hbm_stride = v.plane_stride;
  planes.grid_dim = grid_b;
  rows.block = RoundUpTo<int64_t>(block_rows, hlo::kMemberRowUnit);
  rows.extent = v.rows;
  rows.hbm_stride = v.row_stride;
  rows.grid_dim = grid_rows;
  members.extent = CeilOfRatio<int64_t>(v.members, v.tile_rows);
  members.hbm_stride = v.member_stride;
  if (block_b < v.members) {
    const int64_t parts = v.members / block_b;
    planes.grid_divisor = parts;
    members.block = block_b / v.tile_rows;
    members.grid_dim = grid_b;
    for (int64_t s = 0; s < steps_b; ++s) members.table.push_back(s % parts);
  } else {
    planes.block = block_b / v.members;
    members.block = members.extent;
  }
  columns.block = CeilOfRatio<int64_t>(block_columns, 128);
  columns.extent = CeilOfRatio<int64_t>(v.columns, 128);
  columns.hbm_stride = v.tile_bytes;
  columns.grid_dim = grid_columns;
  columns.vmem_stride = FullTileBytes(v);
  members.vmem_stride = columns.block * columns.vmem_stride;
  rows.vmem_stride = members.block * members.vmem_stride;
  planes.vmem_stride = rows.block * rows.vmem_stride;
  w.slot_bytes = planes.block * planes.vmem_stride;
  w.inner_bytes = v.tile_bytes;
  w.dims = {planes, rows, members, columns};
  return w;
}

// A window over a box of tiles of 8 rows and tiles of a row.
isa::Window MakeBox(const MatrixView& v, int arg, isa::Direction direction,
                    int64_t block_columns, const GridDims& g) {
  isa::Window w;
  w.arg = arg;
  w.direction = direction;
  w.inner_bytes = v.tile_bytes;
  // Three dimensions at least: a batch of one member.
  if (g.box.size() == 1) w.dims.emplace_back();
  for (const GridDims::BoxDim& dim : g.box) {
    isa::WindowDim d;
    d.block = dim.block;
    d.extent = dim.extent;
    d.grid_dim = dim.grid_dim;
    w.dims.push_back(d);
  }
  isa::WindowDim columns;
  columns.block = CeilOfRatio<int64_t>(block_columns, 128);
  columns.extent = CeilOfRatio<int64_t>(v.columns, 128);
  columns.grid_dim = g.n;
  w.dims.push_back(columns);
  int64_t in_array = v.row_stride, in_slot = FullTileBytes(v);
  w.dims.back().hbm_stride = v.tile_bytes;
  w.dims.back().vmem_stride = in_slot;
  in_slot *= columns.block;
  for (size_t d = w.dims.size() - 1; d-- > 0;) {
    w.dims[d].hbm_stride = in_array;
    w.dims[d].vmem_stride = in_slot;
    in_array *= w.dims[d].extent;
    in_slot *= w.dims[d].block;
  }
  // The last 16 rows may be only 8: the others go behind the block.
  w.slot_bytes = in_slot + columns.block * FullTileBytes(v);
  return w;
}

int Add(isa::Window w, const std::vector<int64_t>& grid, Tiling* tiling) {
  bool moves = false;
  for (const isa::WindowDim& d : w.dims) {
    moves = moves || (d.grid_dim >= 0 && grid[d.grid_dim] > 1);
  }
  w.slots = moves ? 2 : 1;
  tiling->windows.push_back(std::move(w));
  return static_cast<int>(tiling->windows.size()) - 1;
}

}  // namespace

int AddOperandWindow(const MatrixView& view, int arg, const ProductTile& t,
                     const GridDims& g, bool is_lhs, bool transposed,
                     Tiling* tiling) {
  const int64_t other = is_lhs ? t.block_m : t.block_n;
  const int other_dim = is_lhs ? g.m : g.n;
  // Rows are K for a transposed LHS and for a plain RHS.
  const bool k_rows = is_lhs == transposed;
  const int64_t planes = std::max<int64_t>(1, t.block_b / view.shared_by);
  if (view.members > 0) {
    return Add(MakeMemberWindow(
                   view, arg, planes, t.grid_b, k_rows ? t.block_k : other,
                   k_rows ? other : t.block_k, g.b, k_rows ? g.k : other_dim,
                   k_rows ? other_dim : g.k),
               g.bounds, tiling);
  }
  isa::Window w = MakeWindow(
      view, arg, isa::Direction::kIn, planes, k_rows ? t.block_k : other,
      k_rows ? other : t.block_k, view.planes_of_k ? g.k_planes : g.b,
      k_rows ? g.k : other_dim, k_rows ? other_dim : g.k);
  w.dims[0].grid_divisor = std::max<int64_t>(1, view.shared_by / t.block_b);
  w.hbm_offset = view.first_byte;
  return Add(std::move(w), g.bounds, tiling);
}

int AddResultWindow(const MatrixView& view, int arg, const ProductTile& t,
                    const GridDims& g, isa::Direction direction,
                    Tiling* tiling) {
  if (!g.box.empty()) {
    return Add(MakeBox(view, arg, direction, t.block_n, g), g.bounds, tiling);
  }
  isa::Window w = MakeWindow(view, arg, direction, t.block_b, t.block_m,
                             t.block_n, g.b, g.m, g.n);
  if (!g.planes.empty() && view.planes > 1) PartPlanes(g, &w);
  return Add(std::move(w), g.bounds, tiling);
}

BlockPlace PlaceOf(const MatrixView& view, const isa::Window& window,
                   int window_number, int space, codegen::CodeBuilder* b) {
  BlockPlace p;
  p.base = b->GlobalSca();
  b->WindowAddress(p.base, window_number);
  const std::optional<int64_t> bank =
      view.resident ? isa::ResidentBankOffset(window, isa::kVmemAlignment)
                    : std::optional<int64_t>(0);
  if (bank.has_value()) {
    b->SetBank(p.base, codegen::CodeBuilder::kAbsoluteBanks,
               static_cast<int32_t>(*bank));
  }
  p.space = space;
  p.type = view.type;
  p.tile_rows = view.tile_rows;
  p.row_bytes = 128 * hlo::BitWidth(view.type) / 8;
  const auto pitch = [&](int dim) {
    return view.resident ? window.dims[dim].hbm_stride
                         : window.dims[dim].vmem_stride;
  };
  const int dims = static_cast<int>(window.dims.size());
  if (view.members > 0) {
    const isa::WindowDim& members = window.dims[2];
    p.members =
        members.grid_dim < 0 ? view.members : members.block * view.tile_rows;
    p.batch_pitch = pitch(0);
    p.row_pitch = pitch(1);
    p.member_pitch = pitch(2);
    p.lane_pitch = pitch(3);
    return p;
  }
  p.batch_pitch = view.planes == 1 ? 0 : pitch(dims - 3);
  p.row_pitch = pitch(dims - 2);
  p.lane_pitch = pitch(dims - 1);
  return p;
}

}  // namespace ptxla::lowering
