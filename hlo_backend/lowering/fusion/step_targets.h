// How many base tiles (of 8 x 128 values) a grid step of a fusion may have, as
// the TPU compiler cuts them (docs/kernels/windows.md).
//
//   add of two f32[4096,4096], alone: {128}; in a fusion: {1024, 256}
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_STEP_TARGETS_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_STEP_TARGETS_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/fusion/nest.h"
#include "hlo_backend/lowering/kernel_plan.h"

namespace ptxla::lowering {

// Base tiles of a body, and of the one step of a stage or a whole reduction.
inline constexpr int kMostTiles = 1024;

// Base tiles of a step where each core makes one: the outermost axis that can
// be cut is.
int64_t TilesOfCore(const Geometry& g, int cores);

// Work of few tiles is one grid step of each core, its loads and stores not
// hidden: `policy.single_step_tiles` of the chip (tpu_slots.md, section 5), and
// for arrays of rows what fits VMEM once (`policy.single_step_bytes`). A
// reduction to one tile of results is on every chip.
bool MakesOneStep(const KernelContext& context, const Geometry& g);

// Base tiles per step worth trying, in the order of preference.
std::vector<int64_t> StepTargets(const KernelContext& context,
                                 const Geometry& g, bool fused);

// Base tiles of a step whose target is `target`, where some more make the steps
// fewer.
int64_t MostTilesOfStep(const KernelContext& context, const Geometry& g,
                        int64_t target);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_STEP_TARGETS_H_
