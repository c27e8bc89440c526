// Counters, bounds and indices of a loop in SMEM, where the scalar unit works
// on them (hlo_backend/analysis/scalar_work.h), and kernels that slice and
// update by them read where to start.
//
//   %i = s32[] get-tuple-element(%state), index=0      in SMEM, as are
//   %back = s32[] fusion(%i)                           indices made of it
//   %w = f32[1,128] dynamic-slice(%stack, %back, %zero)
//
// Other kernels that read such a scalar get a copy in HBM; where two cores
// share a program all do, since one core's scalars are not in the other's SMEM.
#ifndef PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_SCALARS_H_
#define PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_SCALARS_H_

#include "chips/chip_spec.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

// Of a loop of a scheduled module whose state, a tuple in all places, is only
// taken apart. Whether anything changed.
bool PlaceLoopScalars(Instruction* loop, const chips::ChipSpec& chip);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_SCALARS_H_
