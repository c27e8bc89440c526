#include "hlo_backend/lowering/fusion/shifted_streams.h"

#include <algorithm>

#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/analysis/vector_loops.h"

namespace ptxla::lowering {
namespace {

// Planes, then rows and lanes, as the plan cuts the axes.
std::vector<BoxCut> CutsOf(const Geometry& g, const NestPlan& plan,
                           const PhysicalArray& a) {
  std::vector<BoxCut> cuts;
  const auto cut = [&](int axis, int64_t size, int64_t tile, int64_t unit) {
    const int64_t tiles =
        RoundUpTo(plan.block[axis], std::max<int64_t>(1, unit / tile));
    cuts.push_back({size, unit, tiles * tile, plan.grid_dim[axis]});
  };
  if (a.linear != 0) {
    const int64_t tile = int64_t{isa::kSublanes} * isa::kLanes;
    cut(g.column_axis, a.linear, tile, tile * a.packing);
    cuts.push_back({1, isa::kLanes, isa::kLanes, -1});
    return cuts;
  }
  for (int q = 0; q + 2 < a.rank(); ++q) {
    if (g.axis_of_dim[q] >= 0) cut(g.axis_of_dim[q], a.sizes[q], 1, 1);
  }
  cut(g.row_axis, a.rows, isa::kSublanes, int64_t{isa::kSublanes} * a.packing);
  cut(g.column_axis, a.columns, isa::kLanes, isa::kLanes);
  return cuts;
}

// The value of a pad, once or twice in a word.
uint32_t WordOf(const hlo::Instruction& pad) {
  const uint8_t* bytes = pad.operand(1)->literal().element(0);
  uint32_t word = 0;
  const int size = hlo::BitWidth(pad.shape().type()) / 8;
  for (int b = 0; b < 4; ++b) word |= uint32_t{bytes[b % size]} << (8 * b);
  return word;
}

}  // namespace

absl::StatusOr<ShiftedStream> ShiftedStream::Of(const hlo::Instruction& i,
                                                const Expression& e,
                                                const Geometry& g, int number,
                                                const NestPlan& plan,
                                                Place* place, Tiling* tiling) {
  const Stream& s = g.streams[number];
  const hlo::Instruction& value = *e.nodes[s.node].shifted;
  ASSIGN_OR_RETURN(const BoxMap map, BoxMap::OfValue(i, value));
  if (map.sources.size() > hlo::kMostShiftedParts) {
    return absl::UnimplementedError("more parts than a step has windows for");
  }
  const std::vector<BoxCut> cuts = CutsOf(g, plan, s.array);
  ASSIGN_OR_RETURN(BoxParts parts,
                   BoxParts::Of(i, map, BoxPlanes::Apart(map), cuts, tiling));
  ShiftedStream shifted(std::move(parts));
  // Sources have numbers of their own, behind those of the streams.
  shifted.space_ =
      static_cast<int>(g.streams.size()) + hlo::kMostShiftedParts * number;
  if (map.fill >= 0) shifted.fill_ = WordOf(value);
  shifted.strips_.space = number;
  shifted.scratch_ = RoundUpTo<int64_t>(tiling->scratch_bytes, isa::kVregBytes);
  place->moves = true;
  place->scratch = shifted.scratch_;
  tiling->scratch_bytes =
      shifted.scratch_ + shifted.Arrange(g, cuts, s.array, place);
  return shifted;
}

// Registers follow one another down a column, columns in a plane, and planes.
// Returns the bytes of a block.
int64_t ShiftedStream::Arrange(const Geometry& g,
                               const std::vector<BoxCut>& cuts,
                               const PhysicalArray& a, Place* place) {
  place->strides.assign(g.axes.size(), 0);
  const size_t planes = cuts.size() - 2;
  const int64_t row = isa::kRowBytes / a.packing;  // of 128 elements
  int64_t bytes = cuts[planes].block * row;
  if (a.linear != 0) {
    place->strides[g.column_axis] = isa::kVregBytes / a.packing;
    return bytes / isa::kLanes;
  }
  place->strides[g.row_axis] = row * isa::kSublanes;
  place->strides[g.column_axis] = strips_.column_stride = bytes;
  bytes *= cuts.back().block / isa::kLanes;
  strips_.plane_strides.assign(planes, 0);
  size_t p = planes;
  for (int q = a.rank() - 3; q >= 0; --q) {
    if (g.axis_of_dim[q] < 0) continue;
    strips_.plane_strides[--p] = bytes;
    place->strides[g.axis_of_dim[q]] = bytes;
    bytes *= cuts[p].block;
  }
  return bytes;
}

void ShiftedStream::Fill(codegen::CodeBuilder& b) const {
  b.BeginScope();
  b.NewBlock("shift");
  Strips to = strips_;
  to.base = b.GlobalSca();
  b.ScratchAddress(to.base, static_cast<int32_t>(scratch_));
  b.SetBank(to.base, b.NewBankGroup(), 0);
  codegen::Vec fill;
  if (fill_.has_value()) {
    fill = b.GlobalVec();
    b.Move(fill, b.Imm(*fill_));
  }
  parts_.Move(b, to, fill, space_);
  b.EndScope();
}

}  // namespace ptxla::lowering
