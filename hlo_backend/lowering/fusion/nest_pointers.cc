// NestCode: addresses and indices that move along the axes.
#include <algorithm>
#include <utility>

#include "hlo_backend/lowering/fusion/nest.h"

namespace ptxla::lowering {

using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

int NestCode::AddPointer(std::vector<int64_t> strides, Start start,
                         const Place* place) {
  Pointer p;
  p.place = place;
  if (b_.spills_allowed()) {
    for (const Pointer& other : pointers_) {
      if (other.strides == strides) p.reg = other.reg;
    }
    if (!p.reg.valid()) {
      p.reg = b_.GlobalSca();
      b_.SImmTo(p.reg, 0);
    }
  } else {
    p.reg = b_.GlobalSca();
    start(p.reg);
    if (place != nullptr) SetBank(p.reg, *place);
  }
  p.strides = std::move(strides);
  pointers_.push_back(std::move(p));
  starts_.push_back(std::move(start));
  block_values_.emplace_back();
  return static_cast<int>(pointers_.size()) - 1;
}

Sca NestCode::ValueOf(int pointer) {
  const Pointer& p = pointers_[pointer];
  if (!b_.spills_allowed()) return p.reg;
  BlockValue& value = block_values_[pointer];
  if (value.block != b_.block_number()) {
    value.block = b_.block_number();
    value.reg = b_.SAdd(starts_[pointer](Sca()), p.reg);
    if (p.place != nullptr) SetBank(value.reg, *p.place);
  }
  return value.reg;
}

// Rows are counted from the array's first: where the first would lie if a
// window that moves along them reached up to it.
Sca NestCode::BeforeRows(const Stream& s, const Place& place, Sca at, Sca to) {
  const int axis = s.row_axis;
  if (axis < 0 || plan_.grid_dim[axis] < 0) return at;
  Sca step = b_.NewSca();
  b_.GridIndex(step, plan_.grid_dim[axis]);
  int64_t tiles = 1;  // per step, or per `row_divisor` steps
  if (place.row_divisor > 1) {
    int shift = 0;
    while ((int64_t{1} << shift) < place.row_divisor) ++shift;
    step = b_.SBinaryImm(Opcode::kSshrl, step, shift);
  } else {
    tiles = plan_.block[axis] / s.array.tile_rows;
  }
  const Sca moved = to.valid() ? to : b_.NewSca();
  b_.SBinaryTo(
      moved, Opcode::kSadd, at,
      b_.SMulImm(step, static_cast<int32_t>(-tiles * place.row_stride)));
  return moved;
}

void NestCode::StartPointers() {
  StartStreams();
  StartCoordinates();
}

void NestCode::StartStreams() {
  bank_groups_.clear();
  stream_pointer_.assign(g_.streams.size(), -1);
  row_of_sublane_ = Vec();
  for (size_t s = 0; s < g_.streams.size(); ++s) {
    const Place& place = places_[s];
    if (place.kind == Place::Kind::kSmem) continue;
    // Not there yet.
    const int node = g_.streams[s].node;
    if (node >= 0 && e_.node_stage[node] > stage_) continue;
    const bool inline_rows = ExpandsInline(g_.streams[s]);
    const std::vector<int64_t> strides =
        inline_rows ? InlineStrides(g_.streams[s]) : place.strides;
    const auto start = [this, s, &place, inline_rows, strides](Sca to) {
      const auto next = [&] { return to.valid() ? to : b_.NewSca(); };
      Sca at = next();
      const bool scratch = place.kind == Place::Kind::kScratch && !inline_rows;
      if (place.window < 0 || scratch) {
        b_.ScratchAddress(at, static_cast<int32_t>(place.scratch));
      } else {
        b_.WindowAddress(at, place.window);
      }
      if (scratch) return at;
      if (place.moves && !inline_rows) {
        return BeforeRows(g_.streams[s], place, at, to);
      }
      for (size_t a = 0; a < g_.axes.size(); ++a) {
        const int64_t step = strides[a] * plan_.block[a];
        if (plan_.grid_dim[a] < 0 || step == 0) continue;
        const Sca index = b_.NewSca();
        b_.GridIndex(index, plan_.grid_dim[a]);
        const Sca moved = next();
        b_.SBinaryTo(moved, Opcode::kSadd, at,
                     b_.SMulImm(index, static_cast<int32_t>(step)));
        at = moved;
      }
      return at;
    };
    const Place* banks = &place;
    if (inline_rows) {
      inline_places_.push_back(place);
      inline_places_.back().kind = Place::Kind::kWindow;
      inline_places_.back().scratch = 0;
      inline_places_.back().strides = strides;
      banks = &inline_places_.back();
    }
    stream_pointer_[s] = AddPointer(strides, start, banks);
    if (inline_rows && !row_of_sublane_.valid()) {
      row_of_sublane_ = b_.GlobalVec();
      b_.Move(row_of_sublane_,
              b_.BinaryImm(Opcode::kVshrl, b_.LaneSequence(), 7));
    }
  }
}

// Element indices of axes that an iota or a chosen row asks for.
void NestCode::StartCoordinates() {
  std::vector<bool> wanted(g_.axes.size(), false);
  bool lanes = false;
  for (const ExprNode& n : e_.nodes) {
    if (n.kind != ExprNode::Kind::kIota || n.iota_dim < 0) continue;
    if (g_.axis_of_dim[n.iota_dim] < 0) continue;
    wanted[g_.axis_of_dim[n.iota_dim]] = true;
    lanes = true;
  }
  for (const Stream& s : g_.streams) {
    if (s.row_axis >= 0) wanted[s.row_axis] = true;
    if (s.lane_axis >= 0) wanted[s.lane_axis] = true;
  }
  coordinate_pointer_.assign(g_.axes.size(), -1);
  for (size_t a = 0; a < g_.axes.size(); ++a) {
    if (!wanted[a]) continue;
    const Axis& axis = g_.axes[a];
    const int64_t per_tile = axis.kind == Axis::Kind::kRow ? g_.base_rows
                             : axis.kind == Axis::Kind::kColumn
                                 ? (g_.linear ? 1024 : 128)
                                 : 1;
    std::vector<int64_t> strides(g_.axes.size(), 0);
    strides[a] = per_tile;
    coordinate_pointer_[a] = AddPointer(strides, [this, a, per_tile](Sca to) {
      const Sca reg = to.valid() ? to : b_.NewSca();
      if (plan_.grid_dim[a] < 0) {
        b_.SImmTo(reg, 0);
        return reg;
      }
      const Sca index = b_.NewSca();
      b_.GridIndex(index, plan_.grid_dim[a]);
      b_.SMove(reg, b_.SMulImm(index, static_cast<int32_t>(per_tile *
                                                           plan_.block[a])));
      return reg;
    });
  }
  if (lanes) {
    const Vec sequence = b_.LaneSequence();
    lane_ = b_.GlobalVec();
    sublane_ = b_.GlobalVec();
    b_.Move(lane_,
            g_.linear ? sequence : b_.BinaryImm(Opcode::kVand, sequence, 127));
    b_.Move(sublane_, b_.BinaryImm(Opcode::kVshrl, sequence, 7));
  }
}

// Slots and resident arguments begin at a whole number of bank periods;
// pointers that move alike modulo the period keep their distance.
void NestCode::SetBank(Sca reg, const Place& place) {
  const int64_t period =
      std::max<int64_t>(1, b_.model().vmem_banks) * isa::kRowBytes;
  std::vector<int64_t> moves;
  for (size_t a = 0; a < g_.axes.size(); ++a) {
    const bool loops = extent_[a] > plan_.unroll[a];
    const bool by_grid = !place.moves && plan_.grid_dim[a] >= 0 &&
                         place.kind != Place::Kind::kScratch;
    moves.push_back(loops ? place.strides[a] * plan_.unroll[a] % period : 0);
    moves.push_back(by_grid ? place.strides[a] * plan_.block[a] % period : 0);
  }
  const auto [it, is_new] = bank_groups_.try_emplace(moves, 0);
  if (is_new) it->second = b_.NewBankGroup();
  // Of a place in scratch `first_byte` is the array's that is expanded there.
  const bool in_window =
      place.window >= 0 && place.kind == Place::Kind::kWindow;
  const int64_t first = in_window ? place.first_byte : place.scratch;
  b_.SetBank(reg, it->second, static_cast<int32_t>(first % period));
}

void NestCode::Advance(int axis, int64_t tiles) {
  for (Pointer& p : pointers_) p.offset += p.strides[axis] * tiles;
}

// Index of the first element of the axis, `tiles` base tiles further on.
Sca NestCode::Coordinate(int axis, int tiles) {
  const int number = coordinate_pointer_[axis];
  const Pointer& p = pointers_[number];
  return b_.SAddImm(ValueOf(number),
                    static_cast<int32_t>(p.offset + tiles * p.strides[axis]));
}

bool NestCode::StaysAtZero(int axis) const {
  return plan_.grid_dim[axis] < 0 && extent_[axis] <= plan_.unroll[axis];
}

bool NestCode::BeginsTiles(int axis, int64_t rows) const {
  const int64_t stride = pointers_[coordinate_pointer_[axis]].strides[axis];
  const bool by_grid =
      plan_.grid_dim[axis] < 0 || plan_.block[axis] * stride % rows == 0;
  const bool by_loop = extent_[axis] <= plan_.unroll[axis] ||
                       plan_.unroll[axis] * stride % rows == 0;
  return by_grid && by_loop;
}

}  // namespace ptxla::lowering
