// The code of one grid step of a reduction: a nest that leaves one partial
// register per kept tile, then (reduction.h) results made of them, stage by
// stage, and in the last step the epilogue.
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCE_CODE_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCE_CODE_H_

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
  std::vector<int> reduced_grid;  // grid dimensions that are reduced
  int grid_dims = 0;
  // One tile after another, all reductions of it at once: fewer values live.
  bool thrifty = false;
};

absl::Status WriteReduceStep(const Expression& e, const Geometry& g,
                             const ReduceTiling& tiling,
                             codegen::CodeBuilder& b);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCE_CODE_H_
