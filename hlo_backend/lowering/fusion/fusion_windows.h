// The windows of a fusion's streams, and where in VMEM each stream lies.
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_FUSION_WINDOWS_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_FUSION_WINDOWS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "hlo_backend/lowering/fusion/fusion_tiling.h"

namespace ptxla::lowering {

// Adds windows (and scratch for expanded rows and columns) to t->tiling, whose
// args are set, by the blocks of t->plan; fills t->places. `registers`: vector
// registers of the core.
absl::Status MakeWindows(const hlo::Instruction& i, const Expression& e,
                         const Geometry& g, int registers, FusionTiling* t);

// Dimensions, innermost first, around tiles. Whole inner dimensions that lie
// alike on both sides are one run.
void SetDims(const std::vector<isa::WindowDim>& dims, int64_t tile_bytes,
             isa::Window* w);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_FUSION_WINDOWS_H_
