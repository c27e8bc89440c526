#include "hlo_backend/lowering/fusion/position_fold.h"

#include "base/status.h"
#include "hlo_backend/lowering/fusion/tile_fold.h"
#include "hlo_backend/lowering/fusion/vector_math.h"

namespace ptxla::lowering {

using codegen::Mask;
using codegen::Vec;
using isa::Opcode;

Mask PositionFold::Keeps(Vec best, Vec value) {
  const bool most = values_.op == hlo::Opcode::kMaximum;
  if (hlo::IsFloat(values_.type)) {
    const Mask as_good =
        b_.Compare(most ? Opcode::kVcmpGeF32 : Opcode::kVcmpLeF32, best, value);
    const Mask nan = b_.Compare(Opcode::kVcmpNeF32, best, best);
    return b_.MaskBinary(Opcode::kVmor, as_good, nan);
  }
  if (hlo::IsUnsigned(values_.type)) {
    return b_.Compare(most ? Opcode::kVcmpGeU32 : Opcode::kVcmpLeU32, best,
                      value);
  }
  return b_.Compare(most ? Opcode::kVcmpGeS32 : Opcode::kVcmpLeS32, best,
                    value);
}

Vec PositionFold::Candidates(Vec values, Vec best, Vec positions) {
  const bool floats = hlo::IsFloat(values_.type);
  Mask hit = b_.Compare(floats ? Opcode::kVcmpEqF32 : Opcode::kVcmpEqS32,
                        values, best);
  if (floats) {
    const Mask nan = b_.Compare(Opcode::kVcmpNeF32, values, values);
    hit = b_.MaskBinary(Opcode::kVmor, hit, nan);
  }
  return b_.SelectImm(hit, positions,
                      MonoidIdentity(positions_.op, positions_.type));
}

absl::StatusOr<Vec> PositionFold::Tile(Vec values, Vec positions, bool sublanes,
                                       bool lanes) {
  TileFold extrema(values_, b_), fold(positions_, b_);
  Vec best = values;
  if (sublanes) {
    ASSIGN_OR_RETURN(best, extrema.Sublanes(best));
  }
  if (lanes) {
    ASSIGN_OR_RETURN(best, extrema.Lanes(best));
  }
  ASSIGN_OR_RETURN(best, extrema.WithInit(best));
  Vec first = Candidates(values, best, positions);
  if (sublanes) {
    ASSIGN_OR_RETURN(first, fold.Sublanes(first));
  }
  if (lanes) {
    ASSIGN_OR_RETURN(first, fold.Lanes(first));
  }
  return first;
}

absl::StatusOr<Vec> PositionFold::Rows(const std::vector<Vec>& values,
                                       const std::vector<Vec>& positions) {
  constexpr int kColumns = 16;
  TileFold extrema(values_, b_), fold(positions_, b_);
  const std::vector<Vec> columns = b_.Transpose(values, kColumns);
  ASSIGN_OR_RETURN(Vec best, extrema.Tree(columns));
  ASSIGN_OR_RETURN(best, extrema.Sublanes(best));
  ASSIGN_OR_RETURN(best, extrema.WithInit(best));
  // One after the other: columns of values and of positions would not all fit
  // the registers.
  const std::vector<Vec> places = b_.Transpose(positions, kColumns);
  Vec first = Candidates(columns[0], best, places[0]);
  for (int k = 1; k < kColumns; ++k) {
    ASSIGN_OR_RETURN(
        first, fold.Combine(first, Candidates(columns[k], best, places[k])));
  }
  return fold.Sublanes(first);
}

}  // namespace ptxla::lowering
