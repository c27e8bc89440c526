// Parts of fusions (fusion_splitter.h) that others have made already. A TPU
// compiler computes an operand in each kernel that reads it; where that takes a
// kernel of its own, its result is there for the next one.
//
//   %f.part = multiply(%x, %y)     // in front of a convolution
//   %g.part = multiply(%x, %y)     // in front of another
//   ==> %g's convolution reads %f.part
#ifndef PTXLA_HLO_BACKEND_PASSES_SCHEDULED_SHARED_PARTS_H_
#define PTXLA_HLO_BACKEND_PASSES_SCHEDULED_SHARED_PARTS_H_

#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

// Elementwise work, movement, and views. Of a scheduled computation. False:
// there are none.
bool ShareParts(Computation* c);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SCHEDULED_SHARED_PARTS_H_
