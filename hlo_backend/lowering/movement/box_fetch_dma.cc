// What a box movement's step fetches with a DMA of its own: from a start that
// is data, or out of VMEM.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/units.h"
#include "hlo_backend/lowering/movement/box_fetch.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using isa::Opcode;

}  // namespace

absl::Status BoxFetch::PlaceDma(const hlo::Instruction& i, Tiling* tiling) {
  const std::vector<const FetchAxis*> axes = Axes();
  starts_.assign(axes.size(), StartIndex());
  // Where it must not begin outside of the operand, the box begins earlier or
  // later: so far the code reads beyond its ends.
  int64_t front = 0, back = 2 * int64_t{isa::kVregBytes};
  for (size_t a = 0; a < axes.size(); ++a) {
    const FetchAxis& axis = *axes[a];
    if (!axis.map.Shifts()) {
      if (axis.map.stride < 0 || axis.map.dilation > 1) {
        return absl::UnimplementedError(
            absl::StrCat("%", i.name(), ": its operand is in VMEM"));
      }
      continue;
    }
    StripAxis& box = box_.axes[a];
    box.count = std::min(box.count, box.extent);
    if (axis.map.dynamic >= 0) {
      starts_[a] = StartIndex::Add(i, axis.map.dynamic, tiling);
      back += box.stride;
      continue;
    }
    for (int64_t g = axis.FirstStep(); g <= axis.LastStep(); ++g) {
      const int64_t at = sides_[a].origin + g * sides_[a].advance;
      const int64_t begin = std::clamp<int64_t>(at, 0, box.extent - box.count);
      front = std::max(front, (begin - at) * box.stride);
      back = std::max(back, (at - begin + 1) * box.stride);
    }
  }
  front *= static_cast<int64_t>(axes.size());
  back *= static_cast<int64_t>(axes.size());
  dma_ = StripDma::Add(box_, arg_, false, tiling);
  scratch_ = RoundUpTo<int64_t>(tiling->scratch_bytes + front, isa::kVregBytes);
  tiling->scratch_bytes = scratch_ + box_.bytes + back;
  return absl::OkStatus();
}

// The operand's tile in which axis `a` starts, as data says; what is left is
// put into shifts of `move` and, for words, into `base`.
Sca BoxFetch::StartTile(CodeBuilder& b, size_t a, Sca base,
                        StripMove* move) const {
  const FetchAxis& axis = *Axes()[a];
  const Side& side = sides_[a];
  const int64_t extent =
      a < planes_.size()    ? axis.extent
      : a == planes_.size() ? (array_.linear != 0 ? array_.linear : array_.rows)
                            : array_.columns;
  const Sca at = starts_[a].Clamped(b, extent - axis.size);
  const Sca tile = b.SBinaryImm(Opcode::kSshra, at, CeilLog2(side.unit));
  if (side.unit > 1) {
    Sca phase =
        b.SBinaryImm(Opcode::kSand, at, static_cast<int32_t>(side.unit - 1));
    const bool rows = a == planes_.size();
    if (!rows || array_.linear != 0) {
      move->lane_shift = b.GlobalSca();
      b.SMove(move->lane_shift, b.SBinaryImm(Opcode::kSand, phase, 127));
    }
    if (rows) {
      if (array_.linear != 0) {
        phase = b.SBinaryImm(Opcode::kSshra, phase, 7);
      }
      const Sca word =
          b.SBinaryImm(Opcode::kSshra, phase, CeilLog2(array_.packing));
      b.SBinaryTo(base, Opcode::kSadd, base,
                  b.SBinaryImm(Opcode::kSshll, word, CeilLog2(isa::kRowBytes)));
      if (array_.packing > 1) {
        move->bit_shift = b.GlobalSca();
        b.SMove(move->bit_shift, b.SMulImm(b.SBinaryImm(Opcode::kSand, phase,
                                                        array_.packing - 1),
                                           array_.bits));
      }
    }
  }
  return tile;
}

// `tile`, of a step that takes nothing that of the nearest step that does.
Sca BoxFetch::NearestTaken(CodeBuilder& b, const FetchAxis& axis,
                           const Side& side, Sca tile) const {
  const int64_t first = axis.FirstStep(), last = axis.LastStep();
  const auto at = [&](int64_t g) {
    return static_cast<int32_t>(side.origin + g * side.advance);
  };
  if (first > 0) tile = b.SBinaryImm(Opcode::kSmax, tile, at(first));
  if (last + 1 < axis.Steps()) {
    tile = b.SBinaryImm(Opcode::kSmin, tile, at(last));
  }
  return tile;
}

void BoxFetch::EmitDma(CodeBuilder& b, Sca base, StripMove* move) const {
  const Sca offset = b.GlobalSca(), to = b.GlobalSca();
  b.ScratchAddress(to, static_cast<int32_t>(scratch_));
  b.SMove(base, to);
  int64_t fixed = offset_;
  b.SImmTo(offset, 0);
  const std::vector<const FetchAxis*> axes = Axes();
  for (size_t a = 0; a < axes.size(); ++a) {
    const FetchAxis& axis = *axes[a];
    const StripAxis& box = box_.axes[a];
    const Side& side = sides_[a];
    Sca g;
    if (axis.grid_dim >= 0) {
      g = b.NewSca();
      b.GridIndex(g, axis.grid_dim);
    }
    if (axis.map.stride > 1) {
      fixed += axis.map.start * axis.pitch;
      if (g.valid()) {
        b.SBinaryTo(
            offset, Opcode::kSadd, offset,
            b.SMulImm(g, static_cast<int32_t>(side.advance * box.pitch)));
      }
      continue;
    }
    Sca tile;  // of the operand, where the block would begin
    if (!starts_[a].exists()) {
      tile = b.SImm(static_cast<int32_t>(side.origin));
    } else {
      tile = StartTile(b, a, base, move);
    }
    if (g.valid()) {
      tile = b.SAdd(tile, b.SMulImm(g, static_cast<int32_t>(side.advance)));
      if (!starts_[a].exists()) tile = NearestTaken(b, axis, side, tile);
    }
    Sca begin = b.SBinaryImm(Opcode::kSmax, tile, 0);
    begin = b.SBinaryImm(Opcode::kSmin, begin,
                         static_cast<int32_t>(box.extent - box.count));
    b.SBinaryTo(offset, Opcode::kSadd, offset,
                b.SMulImm(begin, static_cast<int32_t>(box.pitch)));
    b.SBinaryTo(base, Opcode::kSadd, base,
                b.SMulImm(b.SBinary(Opcode::kSsub, tile, begin),
                          static_cast<int32_t>(box.stride)));
  }
  b.SBinaryImmTo(offset, Opcode::kSadd, offset, static_cast<int32_t>(fixed));
  dma_.Run(b, offset, to);
}

}  // namespace ptxla::lowering
