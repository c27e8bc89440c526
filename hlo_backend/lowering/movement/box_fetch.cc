#include "hlo_backend/lowering/movement/box_fetch.h"

#include <algorithm>
#include <utility>

#include "base/units.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using isa::Opcode;

}  // namespace

int64_t FetchAxis::FirstStep() const {
  return std::clamp<int64_t>(FloorOfRatio(map.lo, block), 0, Steps() - 1);
}

int64_t FetchAxis::LastStep() const {
  return std::clamp<int64_t>(FloorOfRatio(map.hi - 1, block), FirstStep(),
                             Steps() - 1);
}

std::vector<const FetchAxis*> BoxFetch::Axes() const {
  std::vector<const FetchAxis*> axes;
  for (const FetchAxis& a : planes_) axes.push_back(&a);
  axes.push_back(&rows_);
  axes.push_back(&lanes_);
  return axes;
}

int64_t BoxFetch::RowTile() const {
  return array_.tile_rows * (array_.linear != 0 ? isa::kLanes : 1);
}

BoxFetch::Side BoxFetch::SideOf(const FetchAxis& axis, int64_t unit) const {
  Side s;
  s.unit = unit;
  const AxisMap& m = axis.map;
  if (m.dilation > 1) {
    s.origin = FloorOfRatio(m.start + m.dilation - 1, m.dilation);
    s.advance = axis.block / m.dilation;
  } else if (m.Shifts()) {
    s.origin = FloorOfRatio(m.start, unit);
    s.phase = m.start - s.origin * unit;
    s.advance = std::max<int64_t>(axis.block / unit, 1);
  } else {
    s.advance = axis.block;
  }
  return s;
}

void BoxFetch::MakeBox() {
  sides_.clear();
  std::vector<StripAxis> planes;
  for (const FetchAxis& a : planes_) {
    sides_.push_back(SideOf(a, 1));
    StripAxis axis{a.block, a.extent, a.pitch};
    if (a.map.dilation > 1) axis.count = a.block / a.map.dilation;
    if (a.map.stride > 1) {
      axis.pitch *= a.map.stride;
      axis.extent = a.size;
    }
    planes.push_back(axis);
  }
  const auto tiles = [](const FetchAxis& a, const Side& s) {
    return CeilOfRatio(a.block + (a.map.dynamic >= 0 ? s.unit - 1 : s.phase),
                       s.unit);
  };
  const Side rows = SideOf(rows_, RowTile());
  const Side lanes = SideOf(lanes_, isa::kLanes);
  sides_.push_back(rows);
  sides_.push_back(lanes);
  const int64_t per_row = array_.linear != 0 ? isa::kLanes : 1;
  // What the last register reads: a shift of less than a tile, two word rows
  // for shifts inside of words.
  const int64_t words =
      CeilOfRatio<int64_t>(rows_.block / per_row + array_.tile_rows,
                           array_.packing) +
      2;
  const bool one = array_.linear != 0;
  box_ = StripBox::Of(array_, std::move(planes), tiles(rows_, rows),
                      one ? 1 : tiles(lanes_, lanes), words);
}

absl::Status BoxFetch::Place(const hlo::Instruction& i, Tiling* tiling) {
  own_dma_ = tiling->args[arg_].space == isa::Space::kVmem;
  for (const FetchAxis* a : Axes()) own_dma_ |= a->map.dynamic >= 0;
  MakeBox();
  in_place_ = tiling->args[arg_].space == isa::Space::kVmem && CanReadInPlace();
  if (in_place_) {
    starts_.assign(Axes().size(), StartIndex());
    for (size_t p = 0; p < planes_.size(); ++p) {
      box_.axes[p].stride = box_.axes[p].pitch;
      if (planes_[p].map.dynamic < 0) continue;
      starts_[p] = StartIndex::Add(i, planes_[p].map.dynamic, tiling);
    }
    return absl::OkStatus();
  }
  if (own_dma_) return PlaceDma(i, tiling);
  PlaceWindow(tiling);
  return absl::OkStatus();
}

// Every tile of axis `a` that is read is the operand's; `*last`: but for one
// behind the last, of which no element counts.
bool BoxFetch::HasItsTiles(size_t a, bool* last) const {
  const FetchAxis& axis = *Axes()[a];
  const StripAxis& box = box_.axes[a];
  const int64_t end =
      sides_[a].origin + (axis.Steps() - 1) * sides_[a].advance + box.count;
  if (sides_[a].origin < 0) return false;
  const bool rows = a == planes_.size(), lanes = a > planes_.size();
  // (A block that is cut off begins registers behind the last tile.)
  const bool begins = box.count > CeilOfRatio(axis.block, sides_[a].unit);
  *last =
      end == box.extent + 1 && begins && (rows || (lanes && axis.grid_dim < 0));
  return end <= box.extent || *last;
}

bool BoxFetch::CanReadInPlace() {
  const std::vector<const FetchAxis*> axes = Axes();
  bool last = false;
  for (size_t a = 0; a < axes.size(); ++a) {
    const FetchAxis& axis = *axes[a];
    if (!axis.map.Shifts()) return false;
    // Planes from a start that is data: whole blocks, which are clamped.
    if (axis.map.dynamic >= 0) {
      if (a >= planes_.size() || axis.size % axis.block != 0) return false;
      continue;
    }
    if (!HasItsTiles(a, &last)) return false;
    if (a == planes_.size()) last_rows_ = last;
    if (a > planes_.size()) last_lanes_ = last;
  }
  const bool one_column = array_.linear != 0 ||
                          (array_.tiles_across == 1 && lanes_.map.start == 0 &&
                           lanes_.grid_dim < 0 && lanes_.block <= isa::kLanes &&
                           rows_.map.start == 0);
  // Rows of whole registers, or tiles that are registers.
  return one_column ? array_.plane_stride() % isa::kVregBytes == 0
                    : array_.tile_bytes() == isa::kVregBytes;
}

void BoxFetch::EmitInPlace(CodeBuilder& b, Sca base) const {
  b.ArgAddress(base, arg_);
  int64_t fixed = offset_;
  const std::vector<const FetchAxis*> axes = Axes();
  for (size_t a = 0; a < axes.size(); ++a) {
    const int64_t pitch = box_.axes[a].pitch;
    fixed += sides_[a].origin * pitch;
    if (starts_[a].exists()) {
      const Sca plane = StartTile(b, a, base, nullptr);
      b.SBinaryTo(base, Opcode::kSadd, base,
                  b.SMulImm(plane, static_cast<int32_t>(pitch)));
    }
    if (axes[a]->grid_dim < 0) continue;
    const Sca g = b.NewSca();
    b.GridIndex(g, axes[a]->grid_dim);
    b.SBinaryTo(base, Opcode::kSadd, base,
                b.SMulImm(g, static_cast<int32_t>(sides_[a].advance * pitch)));
  }
  b.SBinaryImmTo(base, Opcode::kSadd, base, static_cast<int32_t>(fixed));
}

void BoxFetch::PlaceWindow(Tiling* tiling) {
  isa::Window w = box_.AsWindow(arg_, isa::Direction::kIn);
  w.hbm_offset = offset_;
  const std::vector<const FetchAxis*> axes = Axes();
  bool moves = false;
  for (size_t a = 0; a < axes.size(); ++a) {
    const FetchAxis& axis = *axes[a];
    isa::WindowDim& d = w.dims[a];
    d.origin = sides_[a].origin;
    d.grid_dim = axis.grid_dim;
    d.advance = sides_[a].advance;
    moves |= axis.grid_dim >= 0;
    if (axis.map.stride > 1) w.hbm_offset += axis.map.start * axis.pitch;
    if (axis.map.stride < 0 && axis.grid_dim >= 0) {
      d.advance = 1;
      for (int64_t g = 0; g < axis.Steps(); ++g) {
        d.table.push_back(axis.size - (g + 1) * axis.block);
      }
    }
  }
  w.slots = moves ? 2 : 1;
  window_ = static_cast<int>(tiling->windows.size());
  tiling->windows.push_back(std::move(w));
}

StripCheck BoxFetch::Check(CodeBuilder& b, const FetchAxis& axis) const {
  StripCheck check;
  if (axis.map.lo == 0 && axis.map.hi >= axis.size) return check;
  check.on = true;
  check.count = axis.map.hi - axis.map.lo;
  check.first = b.GlobalSca();
  Sca first = b.SImm(static_cast<int32_t>(axis.map.lo));
  if (axis.grid_dim >= 0) {
    const Sca g = b.NewSca();
    b.GridIndex(g, axis.grid_dim);
    first = b.SBinary(Opcode::kSsub, first,
                      b.SMulImm(g, static_cast<int32_t>(axis.block)));
  }
  b.SMove(check.first, first);
  return check;
}

void BoxFetch::Emit(CodeBuilder& b, int space, StripMove* move) const {
  b.NewBlock("operand");
  const Sca base = b.GlobalSca();
  const int64_t per_row = array_.linear != 0 ? isa::kLanes : 1;
  const Side& rows = sides_[planes_.size()];
  const Side& lanes = sides_.back();
  move->rows = rows.phase / per_row;
  move->lanes =
      static_cast<int>(array_.linear != 0 ? rows.phase % per_row : lanes.phase);
  if (in_place_) {
    EmitInPlace(b, base);
  } else if (own_dma_) {
    EmitDma(b, base, move);
  } else {
    b.WindowAddress(base, window_);
  }
  b.SetBank(base, b.NewBankGroup(), 0);
  b.NewBlock("checks");
  move->from = box_.AsStrips(space, base);
  if (in_place_ && array_.tile_bytes() == isa::kVregBytes) {
    move->from.column_stride = array_.tile_bytes();
    move->from.register_stride = array_.row_stride();
  }
  const std::vector<int64_t> from = std::move(move->from.plane_strides);
  const std::vector<int64_t> to = std::move(move->to.plane_strides);
  move->from.plane_strides.clear();
  move->to.plane_strides.clear();
  const auto level = [&](int64_t count, int64_t from_stride, int64_t to_stride,
                         const StripCheck& check) {
    move->planes.push_back(count);
    move->from.plane_strides.push_back(from_stride);
    move->to.plane_strides.push_back(to_stride);
    move->plane_checks.push_back(check);
  };
  for (size_t p = 0; p < planes_.size(); ++p) {
    const FetchAxis& axis = planes_[p];
    const int64_t gap = axis.map.dilation;
    if (gap == 1) {
      const bool back = axis.map.stride < 0;
      if (back) {
        b.SBinaryImmTo(base, Opcode::kSadd, base,
                       static_cast<int32_t>((axis.block - 1) * from[p]));
      }
      level(axis.block, back ? -from[p] : from[p], to[p], Check(b, axis));
      continue;
    }
    // An element of the operand, then its gap: elements are those of the
    // blocks' results whose number has the remainder of the first.
    FetchAxis elements = axis;
    elements.block = axis.block / gap;
    elements.map.lo = -sides_[p].origin;
    elements.map.hi = elements.map.lo + axis.extent;
    elements.size = int64_t{1} << 40;
    level(elements.block, from[p], gap * to[p], Check(b, elements));
    StripCheck one;
    one.on = true;
    one.count = 1;
    one.first = b.GlobalSca();
    b.SImmTo(one.first,
             static_cast<int32_t>(sides_[p].origin * gap - axis.map.start));
    level(gap, 0, to[p], one);
  }
  move->row_check = Check(b, rows_);
  if (array_.linear == 0) move->lane_check = Check(b, lanes_);
}

}  // namespace ptxla::lowering
