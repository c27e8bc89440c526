// The code of one grid step of a reduction: a nest that leaves one partial
// register per kept tile, then (reduction.h) results made of them, stage by
// stage, and in the last step the epilogue.
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCE_CODE_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCE_CODE_H_

#include "absl/status/status.h"
#include "hlo_backend/lowering/fusion/reduce_tiling.h"

namespace ptxla::lowering {

absl::Status WriteReduceStep(const Expression& e, const Geometry& g,
                             const ReduceTiling& tiling,
                             codegen::CodeBuilder& b);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCE_CODE_H_
