#include "hlo_backend/lowering/fusion/fusion_windows.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/fusion/wide_columns.h"

namespace ptxla::lowering {

void SetDims(const std::vector<isa::WindowDim>& dims, int64_t tile_bytes,
             isa::Window* w) {
  w->inner_bytes = tile_bytes;
  size_t first = 0;
  while (first < dims.size() && dims[first].grid_dim < 0 &&
         dims[first].hbm_stride == w->inner_bytes &&
         dims[first].vmem_stride == w->inner_bytes) {
    w->inner_bytes *= dims[first].extent;
    ++first;
  }
  w->dims.assign(dims.rbegin(), dims.rend() - first);
  w->slots = 2;
}

namespace {

class WindowMaker {
 public:
  WindowMaker(const hlo::Instruction& i, const Expression& e, const Geometry& g,
              int registers, FusionTiling* t)
      : i_(i), e_(e), g_(g), registers_(registers), t_(t) {}

  absl::Status Make(int number, int num_operand_args) {
    const Stream& s = g_.streams[number];
    Place& place = t_->places[number];
    if (s.access == Access::kPartial) {  // CutReduction gives it its place
      place.kind = Place::Kind::kScratch;
      place.strides.assign(g_.axes.size(), 0);
      return absl::OkStatus();
    }
    if (s.shifted) {
      ASSIGN_OR_RETURN(
          ShiftedStream shifted,
          ShiftedStream::Of(i_, e_, g_, number, t_->plan, &place, &t_->tiling));
      t_->shifted.push_back(std::move(shifted));
      return absl::OkStatus();
    }
    // Two slices of one array are read from one window of it.
    for (int k = 0; s.node >= 0 && s.access == Access::kTile && k < number;
         ++k) {
      const Stream& other = g_.streams[k];
      if (other.node >= 0 && other.access == Access::kTile && !other.shifted &&
          other.argument == s.argument && other.strides == s.strides &&
          other.first_byte == s.first_byte) {
        place = t_->places[k];
        return absl::OkStatus();
      }
    }
    const int arg = s.node >= 0 ? s.argument : num_operand_args + s.result;
    const isa::Space space = t_->tiling.args[arg].space;
    place.resident = space == isa::Space::kVmem;
    isa::Window w;
    w.arg = arg;
    w.direction = s.node >= 0 ? isa::Direction::kIn : isa::Direction::kOut;
    if (s.access == Access::kSplat && s.row_axis < 0 && s.lane_axis < 0 &&
        !place.resident && SplatStrides(s) == 0) {
      place.kind = Place::Kind::kSmem;
      w.space = isa::Space::kSmem;
      w.inner_bytes = std::min<int64_t>(s.array.bytes(), isa::kRowBytes);
      w.slots = 1;
      w.slot_bytes = isa::kRowBytes;
      place.strides.assign(g_.axes.size(), 0);
      place.window = Add(std::move(w));
      return absl::OkStatus();
    }
    if (s.access == Access::kTile && !place.resident) {
      RETURN_IF_ERROR(MoveWithGrid(s, &w, &place));
    } else if (!place.resident && s.rows_from_rows && IsLarge(s)) {
      RETURN_IF_ERROR(MoveWithGrid(s, &w, &place));
    } else if (!place.resident && RowsMove(s) && MoveRows(s, &w, &place)) {
    } else if (!place.resident && LanesMove(s)) {
      MoveLanes(s, &w, &place);
    } else {
      Whole(s, &w, &place);
    }
    place.window = Add(std::move(w));
    if (s.access == Access::kLaneOfRows) {
      place.source_strides = place.strides;
      place.kind = Place::Kind::kScratch;
      place.scratch = t_->tiling.scratch_bytes;
      // A tile per row tile of the step; planes follow one another.
      int64_t bytes = isa::kVregBytes;
      for (int a = static_cast<int>(g_.axes.size()) - 1; a >= 0; --a) {
        const bool row = a == g_.row_axis;
        const bool plane = g_.axes[a].kind == Axis::Kind::kMajor &&
                           (s.strides[a] != 0 || s.row_axis == a);
        place.strides[a] = row || plane ? bytes : 0;
        if (row || plane) bytes *= t_->plan.block[a];
      }
      t_->tiling.scratch_bytes += bytes;
    }
    if (e_.stages == 1 && WorthWidening(g_, t_->plan, s, registers_)) {
      place.source_strides = place.strides;
      place.kind = Place::Kind::kScratch;
      place.scratch = t_->tiling.scratch_bytes;
      place.strides.assign(g_.axes.size(), 0);
      place.strides[g_.column_axis] = isa::kVregBytes;
      t_->tiling.scratch_bytes +=
          t_->plan.block[g_.column_axis] * isa::kVregBytes;
    }
    return absl::OkStatus();
  }

 private:
  int64_t SplatStrides(const Stream& s) const {
    int64_t any = 0;
    for (int64_t stride : s.strides) any |= stride;
    return any;
  }

  int Add(isa::Window w) {
    t_->tiling.windows.push_back(std::move(w));
    return static_cast<int>(t_->tiling.windows.size()) - 1;
  }

  // The whole array, fetched once (or resident and walked in place).
  void Whole(const Stream& s, isa::Window* w, Place* place) {
    w->hbm_offset = s.first_byte;
    if (place->resident) place->first_byte = s.first_byte;
    w->inner_bytes = s.array.bytes() - s.first_byte;
    w->slots = 1;
    w->slot_bytes = RoundUpTo<int64_t>(w->inner_bytes, isa::kVregBytes);
    place->strides = s.strides;
    place->row_stride = s.array.row_stride();
    place->moves = false;
  }

  // Rows of an array that other axes than the kernel's rows choose: the array
  // moves with the grid if it is more than what a step loads besides.
  bool RowsMove(const Stream& s) const {
    const bool rows = s.access == Access::kRowOfLanes ||
                      s.access == Access::kSplat ||
                      (s.access == Access::kLaneOfRows && s.lanes_from_rows);
    return rows && s.node >= 0 && s.array.rank() >= 2 && s.lane_axis < 0 &&
           IsLarge(s);
  }
  // A dense array along the columns, as large, where steps part these.
  bool LanesMove(const Stream& s) const {
    return s.access == Access::kRowOfLanes && s.node >= 0 &&
           s.array.rank() == 1 && t_->plan.grid_dim[g_.column_axis] >= 0 &&
           LaneBytes(s) % isa::kRowBytes == 0 && IsLarge(s);
  }
  int64_t LaneBytes(const Stream& s) const {
    return t_->plan.block[g_.column_axis] * s.strides[g_.column_axis];
  }
  void MoveLanes(const Stream& s, isa::Window* w, Place* place) {
    isa::WindowDim rows;  // of 128 words
    rows.block = LaneBytes(s) / isa::kRowBytes;
    rows.extent = s.array.bytes() / isa::kRowBytes;
    rows.hbm_stride = rows.vmem_stride = isa::kRowBytes;
    rows.grid_dim = t_->plan.grid_dim[g_.column_axis];
    place->moves = true;
    place->strides.assign(g_.axes.size(), 0);
    place->strides[g_.column_axis] = s.strides[g_.column_axis];
    SetDims({rows}, isa::kRowBytes, w);
    w->slot_bytes = RoundUpTo<int64_t>(LaneBytes(s), isa::kVregBytes);
  }
  bool IsLarge(const Stream& s) const {
    return s.array.bytes() > t_->plan.step_bytes;
  }

  // False: a step's rows begin or end inside of tiles.
  bool MoveRows(const Stream& s, isa::Window* w, Place* place) const {
    const PhysicalArray& a = s.array;
    std::vector<isa::WindowDim> dims;
    int64_t slot = a.tile_bytes();
    std::vector<int64_t> strides(g_.axes.size(), 0);
    isa::WindowDim columns;
    columns.block = columns.extent = a.tiles_across;
    columns.hbm_stride = a.tile_bytes();
    if (g_.column_axis >= 0 && s.strides[g_.column_axis] != 0) {
      columns.grid_dim = t_->plan.grid_dim[g_.column_axis];
      if (columns.grid_dim >= 0) {
        columns.block = t_->plan.block[g_.column_axis];
      }
      strides[g_.column_axis] = slot;
    }
    columns.vmem_stride = slot;
    slot *= columns.block;
    dims.push_back(columns);
    place->row_stride = slot;
    place->row_divisor = 1;
    isa::WindowDim rows;
    rows.block = rows.extent = a.tiles_down;
    rows.hbm_stride = a.row_stride();
    rows.vmem_stride = slot;
    if (s.row_axis >= 0 && t_->plan.grid_dim[s.row_axis] >= 0) {
      const int64_t block = t_->plan.block[s.row_axis];
      rows.grid_dim = t_->plan.grid_dim[s.row_axis];
      if (block % a.tile_rows == 0) {
        rows.block = block / a.tile_rows;
      } else if (a.tile_rows % block == 0) {
        rows.block = 1;
        rows.grid_divisor = place->row_divisor = a.tile_rows / block;
      } else {
        return false;
      }
    }
    slot *= rows.block;
    dims.push_back(rows);
    for (int x = static_cast<int>(g_.axes.size()) - 1; x >= 0; --x) {
      if (s.strides[x] == 0 || x == g_.column_axis) continue;
      if (g_.axes[x].kind != Axis::Kind::kMajor) return false;
      isa::WindowDim planes;
      planes.block = t_->plan.block[x];
      planes.extent = g_.axes[x].tiles;
      planes.hbm_stride = s.strides[x];
      planes.vmem_stride = slot;
      planes.grid_dim = t_->plan.grid_dim[x];
      strides[x] = slot;
      slot *= planes.block;
      dims.push_back(planes);
    }
    if (dims.size() > isa::kMaxWindowDims) return false;
    place->strides = std::move(strides);
    place->moves = true;
    SetDims(dims, a.tile_bytes(), w);
    w->slot_bytes = RoundUpTo<int64_t>(slot, isa::kVregBytes);
    return true;
  }

  absl::Status MoveWithGrid(const Stream& s, isa::Window* w, Place* place) {
    const PhysicalArray& a = s.array;
    place->moves = true;
    place->strides.assign(g_.axes.size(), 0);
    w->hbm_offset = s.first_byte;
    // Innermost first.
    int64_t slot = a.tile_bytes();
    std::vector<isa::WindowDim> dims;
    for (int x = static_cast<int>(g_.axes.size()) - 1; x >= 0; --x) {
      const Axis& axis = g_.axes[x];
      const bool column = x == g_.column_axis && s.access == Access::kTile;
      if (s.strides[x] == 0 && !column) continue;
      isa::WindowDim d;
      // Array tiles (or plane indices) per base tile, as a ratio.
      int64_t num = 1, den = 1;
      if (axis.kind == Axis::Kind::kRow) den = s.pack_rows;
      if (column && g_.linear) {
        num = 8;
        den = a.tile_rows;
      }
      // Blocks of cores may end within a register.
      const int64_t padded = RoundUpTo(t_->plan.block[x], axis.core_unit);
      d.block = CeilOfRatio(padded * num, den);
      d.extent = Extent(s, x);
      d.vmem_stride = slot;
      d.hbm_stride = s.strides[x] * den / num;
      if (column) d.hbm_stride = a.tile_bytes();
      d.grid_dim = t_->plan.grid_dim[x];
      place->strides[x] = slot * num / den;
      slot *= d.block;
      // A block beyond the extent only pads the slot.
      if (d.grid_dim < 0) d.block = std::min(d.block, d.extent);
      dims.push_back(d);
    }
    w->slot_bytes = RoundUpTo<int64_t>(slot, isa::kVregBytes);
    // A store of a small tile names a whole register of memory.
    if (g_.base_rows < 8 || a.tile_rows < 8) w->slot_bytes += isa::kVregBytes;
    SetDims(dims, a.tile_bytes(), w);
    if (w->dims.size() > isa::kMaxWindowDims) {
      // One tile of rows or columns needs no dimension.
      const auto single = [](const isa::WindowDim& d) {
        return d.extent == 1 && d.grid_dim < 0;
      };
      w->dims.erase(std::remove_if(w->dims.begin(), w->dims.end(), single),
                    w->dims.end());
    }
    if (w->dims.size() > isa::kMaxWindowDims) {
      return absl::UnimplementedError(absl::StrCat(
          "%", i_.name(), ": blocks of more dimensions than a window has"));
    }
    return absl::OkStatus();
  }

  int64_t Extent(const Stream& s, int x) const {
    const PhysicalArray& a = s.array;
    if (g_.linear) return a.tiles();
    const Axis& axis = g_.axes[x];
    if (axis.kind == Axis::Kind::kColumn) return axis.tiles;
    if (axis.kind == Axis::Kind::kRow) {
      // Merged planes of rows.
      return CeilOfRatio<int64_t>(axis.tiles, s.pack_rows);
    }
    return axis.tiles;
  }

  const hlo::Instruction& i_;
  const Expression& e_;
  const Geometry& g_;
  const int registers_;
  FusionTiling* t_;
};

}  // namespace

namespace {

// What a step loads of the arrays that it reads tile by tile.
int64_t StepBytes(const Geometry& g, const NestPlan& plan) {
  int64_t bytes = 0;
  for (const Stream& s : g.streams) {
    if (s.node < 0 || s.access != Access::kTile) continue;
    int64_t tiles = 1;
    for (size_t a = 0; a < g.axes.size(); ++a) {
      if (s.strides[a] != 0) tiles *= plan.block[a];
    }
    bytes += tiles * isa::kVregBytes / (s.pack_rows * s.pack_columns);
  }
  return bytes;
}

}  // namespace

absl::Status MakeWindows(const hlo::Instruction& i, const Expression& e,
                         const Geometry& g, int registers,
                         FusionTiling* tiling) {
  FusionTiling& t = *tiling;
  t.places.resize(g.streams.size());
  t.plan.step_bytes = StepBytes(g, t.plan);
  WindowMaker windows(i, e, g, registers, tiling);
  const int num_operands = static_cast<int>(i.operand_count());
  for (size_t s = 0; s < g.streams.size(); ++s) {
    RETURN_IF_ERROR(windows.Make(static_cast<int>(s), num_operands));
  }
  return absl::OkStatus();
}

}  // namespace ptxla::lowering
