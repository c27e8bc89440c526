// Positions of extrema (argmax, argmin) beside the extrema themselves: each
// register of positions belongs to one of values. Of equal values the first
// counts, NaN before all others.
//
//   PositionFold fold(values, positions, b);
//   ASSIGN_OR_RETURN(Vec p, fold.Tile(value, position, true, false));
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_POSITION_FOLD_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_POSITION_FOLD_H_

#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/fusion/reduction.h"

namespace ptxla::lowering {

class PositionFold {
 public:
  PositionFold(const Reduction& values, const Reduction& positions,
               codegen::CodeBuilder& b)
      : values_(values), positions_(positions), b_(b) {}

  // Where a value that comes after `best` leaves its position as it is.
  codegen::Mask Keeps(codegen::Vec best, codegen::Vec value);
  // The position of the extremum over a tile's sublanes, or lanes, or both, on
  // all of them; over neither, in each element.
  absl::StatusOr<codegen::Vec> Tile(codegen::Vec values, codegen::Vec positions,
                                    bool sublanes, bool lanes);
  // The same of up to 16 tiles of 8 rows over their lanes: 128 results, one in
  // each lane.
  absl::StatusOr<codegen::Vec> Rows(const std::vector<codegen::Vec>& values,
                                    const std::vector<codegen::Vec>& positions);

 private:
  // Positions of values that are the extremum; others are beyond all.
  codegen::Vec Candidates(codegen::Vec values, codegen::Vec best,
                          codegen::Vec positions);

  const Reduction& values_;
  const Reduction& positions_;
  codegen::CodeBuilder& b_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_POSITION_FOLD_H_
