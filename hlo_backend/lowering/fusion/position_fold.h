// Positions of extrema (argmax, argmin) beside the extrema themselves: each
// register of positions belongs to one of values. Of equal values the lower
// position counts, NaN before all others.
//
// Of two pairs the better is found by what the body of such a reduce says,
// operation by operation: so does the TPU compiler (8 to 9 vector operations a
// register, tpu_slots.md, section 5).
//
//   PositionFold fold(values, positions, b);
//   ASSIGN_OR_RETURN(at, fold.Earlier({best, at}, {value, here}));
//   ASSIGN_OR_RETURN(PositionFold::Pair p, fold.Tile({best, at}, true, false));
//   ASSIGN_OR_RETURN(Vec result, fold.WithInit(p));
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_POSITION_FOLD_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_POSITION_FOLD_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/fusion/reduction.h"

namespace ptxla::lowering {

class PositionFold {
 public:
  PositionFold(const Reduction& values, const Reduction& positions,
               codegen::CodeBuilder& b)
      : values_(values), positions_(positions), b_(b) {}

  struct Pair {
    codegen::Vec value, position;
  };
  // The results of a transpose take turns in so many places of scratch, where
  // those of values wait for those of positions: the registers would not hold
  // them of several rows of results.
  static constexpr int kPlaces = 4;
  static constexpr int kColumns = 16;
  static constexpr int64_t kPlaceBytes = int64_t{kColumns} * isa::kVregBytes;

  // The position of the better of two, `x` the earlier: of two NaNs the first.
  absl::StatusOr<codegen::Vec> Earlier(const Pair& x, const Pair& y);
  // The best over a tile's sublanes, or lanes, or both, on all of them; over
  // neither, the tile.
  absl::StatusOr<Pair> Tile(Pair tile, bool sublanes, bool lanes);
  // The same of up to 16 tiles of 8 rows over their lanes: 128 results, one in
  // each lane. `number`: of the row of results, `waiting` the places' address.
  // The tiles are asked for as they are needed.
  using Tiles = absl::FunctionRef<std::vector<codegen::Vec>()>;
  absl::StatusOr<Pair> Rows(Tiles values, Tiles positions, codegen::Sca waiting,
                            int64_t number);
  // The position, or the one that is beyond all where the start is better.
  absl::StatusOr<codegen::Vec> WithInit(const Pair& p);

 private:
  // The better of two that come in any order.
  absl::StatusOr<Pair> Better(const Pair& x, const Pair& y);
  // Where `x` is better than `y`.
  codegen::Mask IsBetter(codegen::Vec x, codegen::Vec y);

  const Reduction& values_;
  const Reduction& positions_;
  codegen::CodeBuilder& b_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_POSITION_FOLD_H_
