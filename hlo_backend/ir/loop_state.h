// Kernels that write a loop's state where they read it.
#ifndef PTXLA_HLO_BACKEND_IR_LOOP_STATE_H_
#define PTXLA_HLO_BACKEND_IR_LOOP_STATE_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Whether an operand is an array of the state of the while loop in whose body
// the instruction is, and a result of it is that array's next value: both have
// one place in memory. A copy between (passes/memory/copy_insertion) is an
// instruction of its own, so that the array is then not what is read or stored.
//
//   %x = f32[1024] get-tuple-element(%state), index=1
//   %y = f32[1024] add(%x, %c)                      // true
//   ROOT %next = (s32[], f32[1024], f32[1024]) tuple(%n, %y, %c)
bool UpdatesLoopState(const Instruction& i);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_LOOP_STATE_H_
