#include "hlo_backend/lowering/fusion/geometry_axes.h"

#include <algorithm>
#include <vector>

#include "hlo_backend/lowering/kernel_emitter.h"

namespace ptxla::lowering {
namespace {

// Every array has tiles of 8 rows, of which a narrow register holds several,
// and comes through a window: what is walked where it lies in VMEM is shared
// by whole registers.
bool WindowsPartRegisters(const hlo::Instruction& instr, const Geometry& g,
                          uint32_t reduced) {
  if (!g.linear || reduced != 0 || Shifts(g)) return false;
  const std::vector<const hlo::Shape*> leaves = KernelLeaves(instr);
  return std::all_of(g.streams.begin(), g.streams.end(), [&](const Stream& s) {
    // What an epilogue reads may be no argument.
    const int leaf =
        s.node >= 0 ? s.argument : instr.operand_count() + s.result;
    return s.access == Access::kTile && !s.tile_by_tile &&
           s.array.tile_rows == isa::kSublanes &&
           leaf < static_cast<int>(leaves.size()) &&
           ArgSpace(*leaves[leaf]) != isa::Space::kVmem;
  });
}

// Outer axis x and inner axis y are one if every stream runs on contiguously.
bool MayMerge(const Expression& e, const Geometry& g, uint32_t reduced, int x,
              int y) {
  const Axis& ax = g.axes[x];
  const Axis& ay = g.axes[y];
  if (ax.reduced != ay.reduced || Shifts(g)) return false;
  // What is kept beside a reduction keeps its place in the result.
  if (reduced != 0 && !ax.reduced) return false;
  if (ay.kind == Axis::Kind::kColumn) return false;  // IsLinear's business
  // Padding of the last tile of rows would be reduced too.
  if (ay.kind == Axis::Kind::kRow && ay.reduced &&
      ay.elements % g.base_rows != 0) {
    return false;
  }
  for (const ExprNode& n : e.nodes) {
    if (n.kind == ExprNode::Kind::kIota && n.iota_dim >= 0) {
      const int axis = g.axis_of_dim[n.iota_dim];
      if (axis == x || axis == y) return false;
    }
  }
  for (const Stream& s : g.streams) {
    if (s.strides[x] != s.strides[y] * ay.tiles) return false;
    if (s.row_axis == x || s.row_axis == y || s.lane_axis == x ||
        s.lane_axis == y) {
      return false;
    }
    if (s.lanes_from_rows && ay.kind == Axis::Kind::kRow) return false;
    if (ay.kind == Axis::Kind::kRow && s.pack_rows > 1 &&
        ay.tiles % s.pack_rows != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

void MergeAxes(const Expression& e, uint32_t reduced, Geometry* geometry) {
  Geometry& g = *geometry;
  for (int y = static_cast<int>(g.axes.size()) - 1; y > 0; --y) {
    const int x = y - 1;
    if (!MayMerge(e, g, reduced, x, y)) continue;
    Axis& ax = g.axes[x];
    const Axis& ay = g.axes[y];
    ax.kind = ay.kind;
    ax.elements *= ay.elements;
    ax.tiles *= ay.tiles;
    ax.dims.insert(ax.dims.end(), ay.dims.begin(), ay.dims.end());
    ax.parts.insert(ax.parts.end(), ay.parts.begin(), ay.parts.end());
    for (Stream& s : g.streams) {
      s.strides[x] = s.strides[y];
      s.strides.erase(s.strides.begin() + y);
      if (s.row_axis > y) --s.row_axis;
      if (s.lane_axis > y) --s.lane_axis;
    }
    for (int& axis : g.axis_of_dim) {
      if (axis >= y) --axis;
    }
    g.axes.erase(g.axes.begin() + y);
  }
  for (size_t k = 0; k < g.axes.size(); ++k) {
    if (g.axes[k].kind == Axis::Kind::kRow) {
      g.row_axis = static_cast<int>(k);
    }
    if (g.axes[k].kind == Axis::Kind::kColumn) {
      g.column_axis = static_cast<int>(k);
    }
  }
}

void SetUnits(const hlo::Instruction& instr, uint32_t reduced,
              Geometry* geometry) {
  Geometry& g = *geometry;
  for (const Stream& s : g.streams) {
    if (s.access == Access::kTile) {
      if (g.row_axis >= 0) {
        Axis& rows = g.axes[g.row_axis];
        rows.unit = std::max<int64_t>(rows.unit, s.pack_rows);
      }
      Axis& columns = g.axes[g.column_axis];
      columns.unit = std::max<int64_t>(columns.unit, s.pack_columns);
      if (s.shifted) {  // whole registers, however they are read
        Axis& down = g.linear ? columns : g.axes[g.row_axis];
        down.unit = std::max<int64_t>(down.unit, s.array.packing);
      }
    } else if (s.access == Access::kRowOfLanes && s.array.rank() <= 1) {
      // Neighbouring rows of a dense packed array share words.
      Axis& columns = g.axes[g.column_axis];
      columns.unit = std::max<int64_t>(columns.unit, s.array.packing);
    }
  }
  for (Axis& a : g.axes)
    a.core_unit = WindowsPartRegisters(instr, g, reduced) ? 1 : a.unit;
}

}  // namespace ptxla::lowering
