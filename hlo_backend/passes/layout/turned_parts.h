// Parts of an array that lies turned, where their start is data (a cache), for
// transpose_mover.h: as in libtpu the array stays as it lies, and the part is
// turned.
//
//   dynamic-slice(bf16[8,8192,64] transpose(bf16[8,64,8192] %x), 0, %n, 0)
//   ==> transpose(bf16[8,64,1] dynamic-slice(%x, 0, 0, %n))
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_TURNED_PARTS_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_TURNED_PARTS_H_

#include "hlo_backend/passes/layout/moving_transposes.h"

namespace ptxla::hlo {

// Of a dynamic-slice or an update of an array whose transpose moves. Null:
// another array.
Instruction* OfTurnedArray(Builder* b, MovingTransposes* moving,
                           Instruction* i);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_TURNED_PARTS_H_
