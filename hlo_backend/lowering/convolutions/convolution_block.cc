#include "hlo_backend/lowering/convolutions/convolution_block.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/units.h"

namespace ptxla::lowering {
namespace {

// Memory behind a slot that a load of a pair of tiles may touch.
constexpr int64_t kOverrun = isa::kVregBytes;

int Add(isa::Window w, const std::vector<int64_t>& grid, Tiling* tiling) {
  bool moves = false;
  for (const isa::WindowDim& d : w.dims) {
    moves = moves || (d.grid_dim >= 0 && grid[d.grid_dim] > 1);
  }
  w.slots = moves ? 2 : 1;
  tiling->windows.push_back(std::move(w));
  return static_cast<int>(tiling->windows.size()) - 1;
}

// Gives the dims dense strides in the slot.
void PackSlot(int64_t tile, isa::Window* w) {
  int64_t bytes = tile;
  for (size_t d = w->dims.size(); d-- > 0;) {
    w->dims[d].vmem_stride = bytes;
    bytes *= w->dims[d].block;
  }
  w->slot_bytes = bytes + kOverrun;
}

int64_t FullTile(const MatrixView& v) {
  return v.tile_rows * 128 * hlo::BitWidth(v.type) / 8;
}

}  // namespace

int64_t AxisBlock::PlaneOf(const WindowAxis& axis, int64_t o, int64_t t) const {
  if (!Moves()) return axis.InputOf(o, t);
  if (own_tap) return 0;
  const int64_t p = axis.Position(o, t) - origin * axis.base_dilation;
  return p % axis.base_dilation == 0 ? p / axis.base_dilation : -1;
}

bool IsInside(const ConvolutionForm& form, const ConvolutionBlock& block,
              const ConvolutionEdge& edge, size_t axis, int64_t plane) {
  if (static_cast<int>(axis) != edge.axis) return true;
  const AxisBlock& cut = block.axes[axis];
  const int64_t first = cut.origin + plane;
  const int64_t last = first + (cut.grid * cut.tap_grid - 1) * cut.advance;
  return (!edge.first || first >= 0) &&
         (!edge.last || last < form.axes[axis].in);
}

int64_t PlaneAt(const ConvolutionForm& form, const ConvolutionBlock& block,
                const ConvolutionEdge& edge, size_t axis, int64_t o,
                int64_t t) {
  const int64_t plane = block.axes[axis].PlaneOf(form.axes[axis], o, t);
  return plane >= 0 && IsInside(form, block, edge, axis, plane) ? plane : -1;
}

int64_t ConvolutionBlock::Slices() const {
  int64_t slices = row_tiles;
  for (const AxisBlock& a : axes) slices *= a.outputs;
  return slices;
}

int64_t ConvolutionBlock::Taps() const {
  int64_t taps = 1;
  for (const AxisBlock& a : axes) taps *= a.taps;
  return taps;
}

int64_t ConvolutionBlock::TapGrid() const {
  int64_t grid = 1;
  for (const AxisBlock& a : axes) grid *= a.tap_grid;
  return grid;
}

int64_t ConvolutionBlock::Steps() const {
  int64_t steps = row_grid * column_grid * TapGrid();
  for (const AxisBlock& a : axes) steps *= a.grid;
  return steps;
}

int64_t ConvolutionBlock::Meetings(const ConvolutionForm& form,
                                   int64_t together) const {
  int64_t meetings = 1;
  for (size_t a = 0; a < axes.size(); ++a) {
    // Slices of the last axis are tiles of rows.
    const bool last = a + 1 == axes.size();
    const int64_t each = last ? row_tiles : 1, group = last ? together : 1;
    const int64_t slices = axes[a].outputs * each;
    int64_t pairs = 0;
    for (int64_t t = 0; t < axes[a].taps; ++t) {
      for (int64_t first = 0; first < slices; first += group) {
        const int64_t end = std::min(first + group, slices);
        bool meets = false;
        for (int64_t o = first / each; o <= (end - 1) / each; ++o) {
          meets = meets || axes[a].PlaneOf(form.axes[a], o, t) >= 0;
        }
        pairs += meets ? end - first : 0;
      }
    }
    meetings *= pairs;
  }
  return axes.empty() ? row_tiles : meetings;
}

std::string ConvolutionBlock::ToString() const {
  std::string s = "planes ";
  for (size_t a = 0; a < axes.size(); ++a) {
    absl::StrAppend(&s, a == 0 ? "" : "x", axes[a].outputs);
  }
  absl::StrAppend(&s, " rows ", 8 * row_tiles, " columns ", columns, " taps ",
                  Taps(), ", grid ");
  for (const AxisBlock& a : axes) absl::StrAppend(&s, a.grid, "x");
  return absl::StrCat(s, row_grid, "x", column_grid, "x", TapGrid(),
                      columns_inner ? "" : ", columns outside");
}

std::optional<AxisBlock> CutAxis(const WindowAxis& axis, int64_t grid,
                                 int64_t tap_grid) {
  AxisBlock b;
  b.outputs = CeilOfRatio<int64_t>(axis.out, grid);
  b.grid = CeilOfRatio<int64_t>(axis.out, b.outputs);
  b.taps = axis.taps / tap_grid;
  b.tap_grid = tap_grid;
  if (b.grid > 1 && b.tap_grid > 1) return {};
  if (!b.Moves()) {
    b.planes = axis.in;
    return b;
  }
  if (b.tap_grid > 1 && (axis.reversal || axis.taps % tap_grid != 0)) {
    return {};
  }
  const int64_t moved =
      b.grid > 1 ? b.outputs * axis.stride : b.taps * axis.window_dilation;
  if (moved % axis.base_dilation != 0) return {};
  b.advance = moved / axis.base_dilation;
  b.origin = FloorOfRatio(-axis.padding, axis.base_dilation);
  const int64_t last = (b.outputs - 1) * axis.stride +
                       (b.taps - 1) * axis.window_dilation - axis.padding;
  b.planes = FloorOfRatio(last, axis.base_dilation) - b.origin + 1;
  return b;
}

AxisBlock SingleOutputs(const WindowAxis& axis) {
  AxisBlock b;
  b.grid = axis.out;
  b.own_tap = true;
  return b;
}

ConvolutionGrid ConvolutionGrid::Of(const ConvolutionForm& form,
                                    const ConvolutionBlock& block) {
  ConvolutionGrid g;
  std::vector<int64_t>& bounds = g.dims.bounds;
  const auto add = [&](int64_t bound) {
    bounds.push_back(bound);
    return static_cast<int>(bounds.size()) - 1;
  };
  if (!block.columns_inner) g.dims.n = add(block.column_grid);
  for (const AxisBlock& a : block.axes) {
    g.axis.push_back(add(a.grid));
  }
  g.rows = add(block.row_grid);
  if (block.columns_inner) g.dims.n = add(block.column_grid);
  const auto shared = static_cast<int>(bounds.size());
  for (const AxisBlock& a : block.axes) {
    g.tap_axis.push_back(a.tap_grid > 1 ? add(a.tap_grid) : -1);
    if (a.tap_grid > 1) g.taps = g.tap_axis.back();
  }
  for (int dim = 0; dim < shared; ++dim) {
    if (bounds[dim] > 1) {
      g.dims.megacore_dim = dim;
      break;
    }
  }
  // Rows of the product are folded: nobody asks for their grid dimension.
  g.dims.m = g.dims.b = g.rows;
  g.dims.k = g.taps < 0 ? g.rows : g.taps;
  std::vector<GridDims::BoxDim>& box = g.dims.box;
  for (size_t a = 0; a < block.axes.size(); ++a) {
    box.push_back({block.axes[a].outputs, form.axes[a].out, g.axis[a]});
  }
  box.push_back({block.row_tiles, form.RowTiles(), g.rows});
  // Dimensions that lie whole join the next outer one.
  for (size_t d = box.size() - 1; d > 0; --d) {
    if (box[d].block != box[d].extent) continue;
    box[d - 1].block *= box[d].extent;
    box[d - 1].extent *= box[d].extent;
    box.erase(box.begin() + static_cast<std::ptrdiff_t>(d));
  }
  while (box.size() > 1 && box[0].extent == 1) box.erase(box.begin());
  return g;
}

isa::WindowDim InputPlanes(const ConvolutionForm& form,
                           const ConvolutionBlock& block,
                           const ConvolutionGrid& grid, size_t axis) {
  const AxisBlock& b = block.axes[axis];
  isa::WindowDim d;
  d.block = b.planes;
  d.extent = form.axes[axis].in;
  d.hbm_stride = form.axes[axis].in_pitch;
  d.grid_dim = b.grid > 1 ? grid.axis[axis] : grid.tap_axis[axis];
  d.advance = b.advance;
  d.origin = b.origin;
  return d;
}

int AddPackedSlot(const MatrixView& view, isa::Window window,
                  const ConvolutionGrid& grid, Tiling* tiling) {
  PackSlot(FullTile(view), &window);
  return Add(std::move(window), grid.dims.bounds, tiling);
}

int AddInputWindow(const ConvolutionForm& form, const ConvolutionBlock& block,
                   const ConvolutionGrid& grid, Tiling* tiling) {
  const MatrixView& v = form.product.lhs;
  isa::Window w;
  w.arg = form.product.lhs_arg;
  for (size_t a = 0; a < block.axes.size(); ++a) {
    w.dims.push_back(InputPlanes(form, block, grid, a));
  }
  isa::WindowDim rows, lanes;
  rows.block = block.row_tiles;
  rows.extent = form.RowTiles();
  rows.hbm_stride = v.row_stride;
  rows.grid_dim = grid.rows;
  lanes.block = lanes.extent = CeilOfRatio<int64_t>(v.columns, 128);
  lanes.hbm_stride = v.tile_bytes;
  w.dims.push_back(rows);
  w.dims.push_back(lanes);
  w.inner_bytes = v.tile_bytes;
  return AddPackedSlot(v, std::move(w), grid, tiling);
}

int AddWeightWindow(const ConvolutionForm& form, const ConvolutionBlock& block,
                    const ConvolutionGrid& grid, Tiling* tiling) {
  const MatrixView& v = form.product.rhs;
  const bool n_rows = form.product.problem.rhs.transposed;
  isa::Window w;
  w.arg = form.product.rhs_arg;
  for (size_t a = 0; a < block.axes.size(); ++a) {
    isa::WindowDim d;
    d.block = block.axes[a].taps;
    d.extent = form.axes[a].taps;
    d.hbm_stride = form.axes[a].tap_pitch;
    d.grid_dim = block.axes[a].own_tap ? grid.axis[a] : grid.tap_axis[a];
    w.dims.push_back(d);
  }
  isa::WindowDim rows, lanes;
  rows.extent = CeilOfRatio<int64_t>(v.rows, 8);
  rows.block = n_rows ? std::min(block.columns / 8, rows.extent) : rows.extent;
  rows.hbm_stride = v.row_stride;
  rows.grid_dim = n_rows ? grid.dims.n : -1;
  lanes.extent = CeilOfRatio<int64_t>(v.columns, 128);
  lanes.block = n_rows ? lanes.extent : block.columns / 128;
  lanes.hbm_stride = v.tile_bytes;
  lanes.grid_dim = n_rows ? -1 : grid.dims.n;
  w.dims.push_back(rows);
  w.dims.push_back(lanes);
  w.inner_bytes = v.tile_bytes;
  // Whole columns are loaded, also those that do not exist.
  const int64_t beyond = n_rows ? block.columns / 8 - rows.block : 0;
  const int number = AddPackedSlot(v, std::move(w), grid, tiling);
  tiling->windows[number].slot_bytes += beyond * lanes.block * FullTile(v);
  return number;
}

}  // namespace ptxla::lowering
