// Scalars of a schedule that the TPU compiler put into SMEM, S(6): whether the
// scalar unit works on them here too, a few bundles each, or they lie in HBM
// and are kernels.
//
// What IsScalarUnitWork() does and takes or makes such a scalar is the scalar
// unit's: its constants become part of it, what else it reads is copied to
// SMEM, and kernels that read it get a copy in HBM. All other scalars in SMEM
// (floats, results of kernels) lie in HBM.
//
//   %a = u32[]{S(6)} and(%key, %mask)      (%key in HBM, %mask a constant)
//   ==> %k = u32[]{S(6)} copy(%key), %a.part = u32[]{S(6)} fusion(%k)
//
// A module in which scalars in SMEM go through loops or tuples, as our own do
// (loop_residency.h), stays as it is, or has all of them in HBM.
#ifndef PTXLA_HLO_BACKEND_PASSES_SCHEDULED_SCALAR_UNIT_H_
#define PTXLA_HLO_BACKEND_PASSES_SCHEDULED_SCALAR_UNIT_H_

#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

// Whether anything changed. What is added stands at the end of its computation.
// `kernels_read`: dynamic slices and updates read in SMEM where they start, as
// one core does; scalars of one of two cores are not in the other's.
bool PlaceScalars(Module* module, bool kernels_read);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SCHEDULED_SCALAR_UNIT_H_
