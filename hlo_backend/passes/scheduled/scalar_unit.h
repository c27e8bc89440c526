// Scalars of a schedule that the TPU compiler put into SMEM, S(6), or that its
// loops carry (carried_scalars.h): the scalar unit works on them here too, a
// few bundles each.
//
// What IsScalarUnitWork() does and takes or makes such a scalar is the scalar
// unit's: its constants become part of it, what else it reads is copied to
// SMEM. Kernels read it there, if they may (`kernels_read`), and others a copy
// in HBM. All other scalars in SMEM (floats, results of kernels) lie in HBM.
//
//   %a = u32[]{S(6)} and(%key, %mask)      (%key in HBM, %mask a constant)
//   ==> %k = u32[]{S(6)} copy(%key), %a.part = u32[]{S(6)} fusion(%k)
//
// A module of ours, in which no scalar operation stands beside its constants
// and all that lies in SMEM is the scalar unit's already, stays as it is.
#ifndef PTXLA_HLO_BACKEND_PASSES_SCHEDULED_SCALAR_UNIT_H_
#define PTXLA_HLO_BACKEND_PASSES_SCHEDULED_SCALAR_UNIT_H_

#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

// Whether anything changed. What there was keeps its order: a copy follows what
// it copies from SMEM, or stands before what reads it there.
// `kernels_read`: kernels may read scalars in SMEM where they lie, as one core
// does; scalars of one of two cores are not in the other's.
bool PlaceScalars(Module* module, bool kernels_read);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SCHEDULED_SCALAR_UNIT_H_
