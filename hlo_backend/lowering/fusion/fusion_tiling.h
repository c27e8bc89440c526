// Cuts a fusion into grid steps: which axes make the grid, the window of every
// stream, scratch for expanded rows.
//
// Streams of full tiles move with the grid, double-buffered; small ones that
// only some axes index (biases, statistics, scalars) are held whole.
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_FUSION_TILING_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_FUSION_TILING_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/lowering/fusion/nest.h"
#include "hlo_backend/lowering/fusion/shifted_streams.h"
#include "hlo_backend/lowering/kernel_plan.h"

namespace ptxla::lowering {

struct FusionTiling {
  NestPlan plan;
  std::vector<Place> places;           // per stream
  std::vector<ShiftedStream> shifted;  // to be filled before the nest runs
  Tiling tiling;                       // all but entry and body
};

// Order of the axes: those kept, then those reduced; columns innermost among
// either, so that neighbouring loads lie in different banks. `reduced_from` is
// set.
NestPlan OrderAxes(const Geometry& g);

// A cut with about `target` base tiles per step. `copies`: base tiles of a
// body.
absl::StatusOr<FusionTiling> CutFusion(const KernelContext& context,
                                       const hlo::Instruction& i,
                                       const Expression& e, const Geometry& g,
                                       int64_t target, int copies);

// Copies of the formula that the unroll policy allows, and the smaller ones to
// fall back to where registers do not suffice.
std::vector<int> UnrollCandidates(const KernelContext& context,
                                  const Geometry& g);

// The tiling with this many copies of the formula and base tiles per step;
// `spills`: the body may be written for few registers, and may spill.
using MakeTiling = std::function<absl::StatusOr<Tiling>(
    int copies, int64_t target, bool spills)>;
// The kernel of the widest body that fits the registers, cut in the best of the
// steps worth trying. Where not even the narrowest body fits, that one spills.
absl::StatusOr<isa::Kernel> EmitWidestThatFits(const KernelContext& context,
                                               const hlo::Instruction& i,
                                               const Geometry& g,
                                               const MakeTiling& make);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_FUSION_TILING_H_
