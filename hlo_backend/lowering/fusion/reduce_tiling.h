// A reduction cut into grid steps: what one of its steps does, and where its
// partial and finished results lie.
//
//   f32[4096] reduce(f32[4096,8192]), dimensions={1}
//   // a step: 256 rows, all columns; 32 partial registers in scratch
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCE_TILING_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCE_TILING_H_

#include <optional>
#include <vector>

#include "hlo_backend/lowering/fusion/fusion_tiling.h"
#include "hlo_backend/lowering/fusion/reduction.h"

namespace ptxla::lowering {

// The elementwise rest on the reduced shape, in the last step.
struct ReduceEpilogue {
  Expression e;
  Geometry g;
  NestPlan plan;
  std::vector<Place> places;
};

struct ReduceTiling {
  FusionTiling cut;
  std::optional<ReduceEpilogue> epilogue;
  std::vector<Reduction> reductions;
  // Of columns, beside `reductions` of rows (column_sums.h).
  std::vector<Reduction> of_columns;
  std::vector<int> reduced_grid;  // grid dimensions that are reduced
  int grid_dims = 0;
  // The grid dimension of which each core has partial results; -1: none.
  int exchanged_dim = -1;
  // One tile after another, all reductions of it at once: fewer values live.
  bool thrifty = false;

  // Whether steps are the first or last along the grid dimension: of the core's
  // own, where each has partial results.
  int WhenDim(int dim) const {
    return dim == exchanged_dim ? isa::kCoreShare : dim;
  }
  // Whose positions `r`, one of `reductions`, is; null: it reduces values.
  const Reduction* ExtremumOf(const Reduction& r) const {
    return r.extremum < 0 ? nullptr : &reductions[r.extremum];
  }
  int NumberOf(const Reduction& r) const {
    return static_cast<int>(&r - reductions.data());
  }
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCE_TILING_H_
