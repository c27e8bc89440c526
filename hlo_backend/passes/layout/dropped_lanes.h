// Numbers that lie in one lane each and become rows or lanes of another order:
// one transpose, which keeps the dimension of size 1 as a plane, where the
// reshape that drops it would bring them into the lanes for a second one.
//
//   f32[8,32,32] transpose(f32[32,32,8] reshape(f32[32,32,8,1] %x)),
//     dimensions={2,0,1}
//   ==>  reshape(f32[8,1,32,32] transpose(%x), dimensions={2,3,0,1})
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_DROPPED_LANES_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_DROPPED_LANES_H_

#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

// All such transposes of `c`, of words or bf16 and with other lanes than their
// operands; whether there are any. Before such reshapes have forms of their
// own. A reshape that others read too stays.
bool TransposeDroppedLanes(Computation* c);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_DROPPED_LANES_H_
