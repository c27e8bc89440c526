#include "hlo_backend/lowering/fusion/position_fold.h"

#include "base/status.h"
#include "hlo_backend/lowering/codegen/spaces.h"
#include "hlo_backend/lowering/fusion/tile_fold.h"
#include "hlo_backend/lowering/fusion/vector_math.h"

namespace ptxla::lowering {

using codegen::Mask;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

Mask PositionFold::IsBetter(Vec x, Vec y) {
  const bool most = values_.op == hlo::Opcode::kMaximum;
  if (!hlo::IsFloat(values_.type)) {
    const bool u = hlo::IsUnsigned(values_.type);
    return b_.Compare(most ? (u ? Opcode::kVcmpGtU32 : Opcode::kVcmpGtS32)
                           : (u ? Opcode::kVcmpLtU32 : Opcode::kVcmpLtS32),
                      x, y);
  }
  const Mask better =
      b_.Compare(most ? Opcode::kVcmpGtF32 : Opcode::kVcmpLtF32, x, y);
  const Mask nan = b_.Compare(Opcode::kVcmpNeF32, x, x);
  return b_.MaskBinary(Opcode::kVmor, better, nan);
}

// Selections one after the other, not one by a mask of masks: there are few
// mask registers.
absl::StatusOr<Vec> PositionFold::Earlier(const Pair& x, const Pair& y) {
  const bool floats = hlo::IsFloat(values_.type);
  const Vec better =
      b_.Select(IsBetter(x.value, y.value), x.position, y.position);
  const Mask same = b_.Compare(floats ? Opcode::kVcmpEqF32 : Opcode::kVcmpEqS32,
                               x.value, y.value);
  ASSIGN_OR_RETURN(const Vec lower,
                   TileFold(positions_, b_).Combine(x.position, y.position));
  return b_.Select(same, lower, better);
}

absl::StatusOr<PositionFold::Pair> PositionFold::Better(const Pair& x,
                                                        const Pair& y) {
  const Mask first = IsBetter(x.value, y.value);
  const Vec better = b_.Select(first, x.position, y.position);
  // Both, of NaNs, or neither: the lower position.
  const Mask differ =
      b_.MaskBinary(Opcode::kVmxor, first, IsBetter(y.value, x.value));
  ASSIGN_OR_RETURN(const Vec lower,
                   TileFold(positions_, b_).Combine(x.position, y.position));
  ASSIGN_OR_RETURN(const Vec value,
                   TileFold(values_, b_).Combine(x.value, y.value));
  return Pair{value, b_.Select(differ, better, lower)};
}

absl::StatusOr<PositionFold::Pair> PositionFold::Tile(Pair p, bool sublanes,
                                                      bool lanes) {
  if (sublanes) {
    for (int shift : {4, 2, 1}) {
      ASSIGN_OR_RETURN(p, Better(p, {b_.RotateSublanes(p.value, shift),
                                     b_.RotateSublanes(p.position, shift)}));
    }
  }
  if (lanes) {
    for (int shift : {64, 32, 16, 8, 4, 2, 1}) {
      ASSIGN_OR_RETURN(p, Better(p, {b_.RotateLanes(p.value, shift),
                                     b_.RotateLanes(p.position, shift)}));
    }
  }
  return p;
}

absl::StatusOr<PositionFold::Pair> PositionFold::Rows(Tiles values,
                                                      Tiles positions,
                                                      Sca waiting,
                                                      int64_t number) {
  const auto place = [&](int k) {
    return static_cast<int32_t>(number % kPlaces * kPlaceBytes +
                                k * int64_t{isa::kVregBytes});
  };
  b_.Transpose(values(), kColumns, [&](int k, Vec column) {
    b_.Store(codegen::kWaitingPositionSpace, waiting, place(k), column);
  });
  // Two chains: one would take the latency of its comparisons 15 times.
  absl::StatusOr<Pair> best[2];
  b_.Transpose(positions(), kColumns, [&](int k, Vec places) {
    const Pair p{b_.Load(codegen::kWaitingPositionSpace, waiting, place(k)),
                 places};
    absl::StatusOr<Pair>& chain = best[k % 2];
    if (k < 2) {
      chain = p;
    } else if (chain.ok()) {
      chain = Better(*chain, p);
    }
  });
  RETURN_IF_ERROR(best[0].status());
  RETURN_IF_ERROR(best[1].status());
  ASSIGN_OR_RETURN(const Pair one, Better(*best[0], *best[1]));
  return Tile(one, true, false);
}

absl::StatusOr<Vec> PositionFold::WithInit(const Pair& p) {
  if (!values_.has_init) return p.position;
  ASSIGN_OR_RETURN(const Vec best, TileFold(values_, b_).WithInit(p.value));
  const bool floats = hlo::IsFloat(values_.type);
  Mask hit = b_.Compare(floats ? Opcode::kVcmpEqF32 : Opcode::kVcmpEqS32,
                        p.value, best);
  if (floats) {
    const Mask nan = b_.Compare(Opcode::kVcmpNeF32, p.value, p.value);
    hit = b_.MaskBinary(Opcode::kVmor, hit, nan);
  }
  return b_.SelectImm(hit, p.position,
                      MonoidIdentity(positions_.op, positions_.type));
}

}  // namespace ptxla::lowering
