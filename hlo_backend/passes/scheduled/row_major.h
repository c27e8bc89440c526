// Rewrites a computation whose arrays have layouts so that inside of it every
// array is row-major: dimensions stand in the order in which they lie in
// memory. Nothing moves that did not move before. TPU compilers choose other
// orders (a weight's gradient as the optimizer keeps it); our fusion rules and
// passes know row-major arrays only.
//
// Parameters and results keep their shapes: bitcasts stand between. So they do
// around operations that this file does not know.
//
//   %a = f32[8,16]{0,1:T(8,128)} add(%p, %q)
//   ==> %b = f32[16,8]{1,0:T(8,128)} add(bitcast(%p), bitcast(%q)),
//       %a = f32[8,16]{0,1:T(8,128)} bitcast(%b)
#ifndef PTXLA_HLO_BACKEND_PASSES_SCHEDULED_ROW_MAJOR_H_
#define PTXLA_HLO_BACKEND_PASSES_SCHEDULED_ROW_MAJOR_H_

#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

// Whether it changed anything. `generation` of the chip: tiles of values that
// come to be (TpuLayout). `shares`: a product whose result has rows of the one
// operand between planes and columns of the other has a batch then, of which
// all members share the first (SharedMatrix of analysis/product_batch.h):
//
//   bf16[8,128,300]{1,2,0} dot(%x, %w)   // %x bf16[8,128,64]{1,2,0}
//   ==> bf16[8,300,128] dot(broadcast(%w), bf16[8,64,128] %x), batch {0}
bool MakeRowMajor(Computation* c, int generation, bool shares = false);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SCHEDULED_ROW_MAJOR_H_
