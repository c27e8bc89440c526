// Gives work around products their dimensions: what has dimensions of size 1
// more than a product's result or operand is done without them. TPU compilers
// keep those of the program ([1,8,4,512,512] scores of a product of four
// dimensions); our fusion rules want one shape.
//
// Of row-major arrays (row_major.h). What stays as it was reads and is read
// through bitcasts.
//
//   %d = f32[8,512,512] dot(...), %b = f32[1,8,512,512] bitcast(%d)
//   %r = f32[8,512] reduce(f32[1,8,512,512] exp(%b)), dimensions={0,2}
//   ==> %r = f32[8,512] reduce(f32[8,512,512] exp(%d)), dimensions={1}
#ifndef PTXLA_HLO_BACKEND_PASSES_SCHEDULED_PRODUCT_DIMS_H_
#define PTXLA_HLO_BACKEND_PASSES_SCHEDULED_PRODUCT_DIMS_H_

#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

// `generation` of the chip: tiles of values that come to be (TpuLayout).
void TakeProductDims(Computation* c, int generation);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SCHEDULED_PRODUCT_DIMS_H_
