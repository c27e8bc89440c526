// Products with a batch that contract planes of their members beside a
// dimension of the matrices, as products of those planes and their sum: the
// gradient of keys that the heads of a group share. No kernel of ours walks
// such planes inside of a batch, and rows that held all of them would have to
// be transposed.
//
//   f32[8,512,128] dot(bf16[8,4,512,256], bf16[8,4,256,128]), batch {0},
//       contracting {1,3} and {1,2}
//   ==> f32[8,512,128] reduce(f32[8,4,512,128] dot(...), batch {0,1},
//                             contracting {3} and {2}), dimensions={1}
#ifndef PTXLA_HLO_BACKEND_PASSES_SCHEDULED_PLANE_SUMS_H_
#define PTXLA_HLO_BACKEND_PASSES_SCHEDULED_PLANE_SUMS_H_

#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

// Whether it changed anything. Of row-major arrays (row_major.h), products of
// floats only. `generation` of the chip: tiles of values that come to be
// (TpuLayout).
bool SumOverPlanes(Computation* c, int generation);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SCHEDULED_PLANE_SUMS_H_
