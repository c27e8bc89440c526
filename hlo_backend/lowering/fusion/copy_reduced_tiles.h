// A reduction over nothing but majors: its partial tiles are its result.
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_COPY_REDUCED_TILES_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_COPY_REDUCED_TILES_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/fusion/reduction.h"

namespace ptxla::lowering {

// Copies the tiles of the step from `first` (partials) to the plane of the
// result at `result`. `extremum`: whose positions they are, or null.
// Unimplemented: packed results that are not bf16, and results in tiles of
// fewer rows than the partial tiles, where they are more than one such tile
// down.
absl::Status CopyReducedTiles(const Reduction& r, const Reduction* extremum,
                              const Geometry& g, const NestPlan& plan,
                              const std::vector<int64_t>& extent,
                              codegen::Sca first, codegen::Sca result,
                              codegen::CodeBuilder& b);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_COPY_REDUCED_TILES_H_
