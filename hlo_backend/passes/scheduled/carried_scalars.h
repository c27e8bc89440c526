// Scalars that the loops of a TPU compiler's schedule carry, in SMEM: counters,
// bounds, what is made of them from one iteration to the next. libtpu writes
// them as arrays without a memory space, yet a loop around a small kernel takes
// no longer than the kernel: 0.0535 us an iteration for an add of bf16[32768]
// on v6e (measured, E-EW), where one DMA would take ten times as long.
//
//   %s = (s32[], f32[8,128]) parameter(0)
//   %i = s32[] get-tuple-element(%s), index=0     ==> s32[]{S(6)}, as in the
//   %next = s32[] add(%i, %one)                       loop's start and result
#ifndef PTXLA_HLO_BACKEND_PASSES_SCHEDULED_CARRIED_SCALARS_H_
#define PTXLA_HLO_BACKEND_PASSES_SCHEDULED_CARRIED_SCALARS_H_

#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

// Puts an element of a loop's state into SMEM if the scalar unit, or nobody,
// makes the next one, and the unit reads it (or kernels do, if they may:
// `kernels_read`). Only shapes change: of tuples, of what takes them apart, and
// of work that makes the next element or the first. Other operands of a tuple
// with an element in SMEM still have to be copied there. Elements of tuples
// that others carry leave SMEM. Whether anything changed.
bool PlaceCarriedScalars(Module* module, bool kernels_read);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SCHEDULED_CARRIED_SCALARS_H_
