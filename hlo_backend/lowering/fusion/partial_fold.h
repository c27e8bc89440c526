// A step's partial tiles become results: one of a tile, or a row of 128 of
// what each column of a tile, or each row of 16 tiles, is reduced to.
//
//   PartialFold fold(r, nullptr, b);
//   fold.Begin();
//   fold.Rows(from, 0, 16);  // sums of 128 rows, in every sublane's lanes
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_PARTIAL_FOLD_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_PARTIAL_FOLD_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "hlo_backend/lowering/fusion/position_fold.h"
#include "hlo_backend/lowering/fusion/reduction.h"
#include "hlo_backend/lowering/fusion/tile_fold.h"

namespace ptxla::lowering {

class PartialFold {
 public:
  // `extremum`: the values of one of positions, which lie in the same order
  // elsewhere; null: `r` is no reduction of positions.
  PartialFold(const Reduction& r, const Reduction* extremum,
              codegen::CodeBuilder& b)
      : r_(r), extremum_(extremum), b_(b), fold_(r, b) {}

  // Once, in the scope of all that follows.
  void Begin();
  // Of the tile at `offset`, its sublanes and lanes.
  absl::StatusOr<codegen::Vec> Element(codegen::Sca from, int64_t offset);
  // Of its sublanes.
  absl::StatusOr<codegen::Vec> Columns(codegen::Sca from, int64_t offset);
  // Of the lanes of `count` tiles.
  absl::StatusOr<codegen::Vec> Rows(codegen::Sca from, int64_t offset,
                                    int count);

 private:
  codegen::Vec Partial(codegen::Sca from, int64_t offset);
  codegen::Vec ExtremumAt(codegen::Sca from, int64_t offset);
  // Of the tile at `offset`, of its lanes too where `all`.
  absl::StatusOr<codegen::Vec> Position(codegen::Sca from, int64_t offset,
                                        bool all);

  const Reduction& r_;
  const Reduction* extremum_;
  codegen::CodeBuilder& b_;
  TileFold fold_;
  codegen::Sca waiting_;  // of positions
  int64_t number_ = 0;    // of the row of results
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_PARTIAL_FOLD_H_
