// Folds partial tiles of a reduction: words of several registers, of sublanes
// or of lanes into one, by the reduction's operation.
//
//   TileFold fold(reduction, b);
//   ASSIGN_OR_RETURN(v, fold.Sublanes(v));
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_TILE_FOLD_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_TILE_FOLD_H_

#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/fusion/reduction.h"

namespace ptxla::lowering {

class TileFold {
 public:
  TileFold(const Reduction& r, codegen::CodeBuilder& b) : r_(r), b_(b) {}

  absl::StatusOr<codegen::Vec> Combine(codegen::Vec x, codegen::Vec y);
  // All of them, pair by pair.
  absl::StatusOr<codegen::Vec> Tree(std::vector<codegen::Vec> values);
  // Every sublane (lane) gets the combination over all.
  absl::StatusOr<codegen::Vec> Sublanes(codegen::Vec v);
  absl::StatusOr<codegen::Vec> Lanes(codegen::Vec v);
  // The start value comes in, once at the end.
  absl::StatusOr<codegen::Vec> WithInit(codegen::Vec v);

 private:
  const Reduction& r_;
  codegen::CodeBuilder& b_;
};

// Partial tiles of the reductions that another core has a part of become those
// of both cores.
absl::Status JoinPeerParts(const std::vector<Reduction>& reductions,
                           codegen::CodeBuilder& b);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_TILE_FOLD_H_
