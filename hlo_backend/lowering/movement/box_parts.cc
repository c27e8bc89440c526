#include "hlo_backend/lowering/movement/box_parts.h"

#include <algorithm>

#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/movement/strip_mover.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;

BoxParts::BoxParts(const BoxMap& map)
    : packing_(map.out.packing),
      linear_(map.out.linear != 0),
      fills_(map.fill >= 0) {}

absl::StatusOr<BoxParts> BoxParts::Of(const hlo::Instruction& i,
                                      const BoxMap& map,
                                      const BoxPlanes& planes,
                                      const std::vector<BoxCut>& cuts,
                                      Tiling* tiling) {
  BoxParts parts(map);
  for (size_t k = 0; k < map.sources.size(); ++k) {
    RETURN_IF_ERROR(parts.Add(i, map.sources[k], k, planes, cuts, tiling));
  }
  return parts;
}

absl::Status BoxParts::Add(const hlo::Instruction& i, const BoxSource& source,
                           size_t number, const BoxPlanes& planes,
                           const std::vector<BoxCut>& cuts, Tiling* tiling) {
  Part part(BoxFetch(source.operand, source.array, planes.offsets[number]));
  for (size_t p = 0; p < planes.axes.size(); ++p) {
    const PlaneAxis::From& from = planes.axes[p].from[number];
    part.fetch.AddPlanes(
        Covered(cuts[p], {from.pitch, from.extent, from.map}, &part));
  }
  const size_t rows = cuts.size() - 2;
  const size_t rank = source.axes.size();
  part.fetch.SetRows(
      Covered(cuts[rows], {0, 0, source.axes[linear_ ? 0 : rank - 2]}, &part));
  if (linear_) {
    part.first.push_back(0);
    part.count.push_back(1);
  } else {
    part.fetch.SetLanes(
        Covered(cuts[rows + 1], {0, 0, source.axes[rank - 1]}, &part));
  }
  RETURN_IF_ERROR(part.fetch.Place(i, tiling));
  parts_.push_back(std::move(part));
  return absl::OkStatus();
}

FetchAxis BoxParts::Covered(const BoxCut& cut, FetchAxis axis,
                            Part* part) const {
  axis.block = cut.block;
  axis.size = cut.size;
  axis.grid_dim = cut.grid_dim;
  int64_t first = 0;
  AxisMap& m = axis.map;
  // (What is filled is written with the one source.)
  const bool fixed = m.Shifts() && m.dynamic < 0 && !fills_;
  if (fixed && cut.grid_dim < 0) {
    first = m.lo / cut.unit * cut.unit;
    axis.block =
        std::min(RoundUpTo<int64_t>(m.hi - first, cut.unit), cut.block - first);
    axis.size = std::min(axis.size - first, axis.block);
    m.lo -= first;
    m.hi -= first;
    m.start += first;
  } else if (fixed && m.hi <= cut.block) {
    part->when.push_back({cut.grid_dim, isa::When::Kind::kFirst});
  } else if (fixed && m.lo >= (axis.Steps() - 1) * cut.block) {
    part->when.push_back({cut.grid_dim, isa::When::Kind::kLast});
  }
  part->first.push_back(first);
  part->count.push_back(axis.block);
  return axis;
}

void BoxParts::Move(CodeBuilder& b, const Strips& to, codegen::Vec fill,
                    int space, int64_t rest) const {
  for (size_t k = 0; k < parts_.size(); ++k) {
    MovePart(b, to, k, fill, space + static_cast<int>(k), rest);
  }
}

void BoxParts::MovePart(CodeBuilder& b, const Strips& to, size_t number,
                        codegen::Vec fill, int space, int64_t rest) const {
  const Part& part = parts_[number];
  for (const auto& [dim, kind] : part.when) b.BeginWhen(dim, kind);
  b.BeginScope();
  StripMove move;
  move.fill = fill;
  move.keep = number > 0;
  move.packing = packing_;
  move.linear = linear_;
  move.to = to;
  if (const int64_t offset = OffsetOf(part, to); offset > 0) {
    b.NewBlock("part");
    move.to.base = b.GlobalSca();
    b.SMove(move.to.base, b.SAddImm(to.base, static_cast<int32_t>(offset)));
    b.SetBank(move.to.base, b.NewBankGroup(), 0);
  }
  move.columns = CeilOfRatio<int64_t>(part.count.back(), isa::kLanes);
  move.registers =
      rest > 0 ? rest : RegistersOf(part.count[part.count.size() - 2]);
  part.fetch.Emit(b, space, &move);
  MoveTiles(b, part.fetch, move);
  b.EndScope();
  for (size_t w = 0; w < part.when.size(); ++w) b.EndWhen();
}

// The last rows and lanes of an array that is read where it lies by
// themselves: nothing follows them.
void BoxParts::MoveTiles(CodeBuilder& b, const BoxFetch& fetch,
                         const StripMove& move) {
  const bool rows = fetch.EndsInTileOfRows();
  const int dim = fetch.RowSteps();
  if (!rows || dim < 0) return MoveLanes(b, fetch, move, rows);
  b.BeginWhen(dim, isa::When::Kind::kNotLast);
  MoveLanes(b, fetch, move, false);
  b.EndWhen();
  b.BeginWhen(dim, isa::When::Kind::kLast);
  MoveLanes(b, fetch, move, true);
  b.EndWhen();
}

void BoxParts::MoveLanes(CodeBuilder& b, const BoxFetch& fetch,
                         const StripMove& move, bool rows_end) {
  const bool lanes_end = fetch.EndsInTileOfLanes();
  const int64_t down = move.registers - 1, across = move.columns - 1;
  for (const bool last_rows : {false, true}) {
    for (const bool last_lanes : {false, true}) {
      if ((last_rows && !rows_end) || (last_lanes && !lanes_end)) continue;
      StripMove some = move;
      if (last_rows || last_lanes) {
        some = Behind(b, move, last_rows ? down : 0, last_lanes ? across : 0);
      }
      if (!last_rows && rows_end) some.registers = down;
      if (!last_lanes && lanes_end) some.columns = across;
      some.last_rows = last_rows;
      some.last_lanes = last_lanes;
      if (some.registers > 0 && some.columns > 0) EmitStripMove(b, some);
    }
  }
}

int64_t BoxParts::RegistersOf(int64_t rows) const {
  return rows / (linear_ ? isa::kLanes : 1) / packing_ / isa::kSublanes;
}

// Bytes into the block at which the part begins.
int64_t BoxParts::OffsetOf(const Part& part, const Strips& to) const {
  const size_t rows = part.first.size() - 2;
  int64_t bytes = RegistersOf(part.first[rows]) * to.register_stride +
                  part.first[rows + 1] / isa::kLanes * to.column_stride;
  for (size_t p = 0; p < to.plane_strides.size(); ++p) {
    bytes += part.first[p] * to.plane_strides[p];
  }
  return bytes;
}

}  // namespace ptxla::lowering
