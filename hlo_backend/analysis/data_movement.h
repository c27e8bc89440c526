// Instructions that move elements and compute nothing.
//
//   bf16[64,8] transpose(bf16[8,64] %x), dimensions={1,0}   // IsDataMovement
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_DATA_MOVEMENT_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_DATA_MOVEMENT_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// A step of a movement: copy, reshape, bitcast, transpose, broadcast, slice,
// reverse, concatenate, pad.
bool IsDataMovement(const Instruction& instruction);

// A slice in steps of 1, a concatenation, or a pad around an array with a
// constant: elements stay side by side, in an array whose dimensions have the
// order of its operands'. Of 1 to 5 dimensions, with layouts.
//   f32[2047,512] slice(f32[2048,512]), its first dimension [1:2048]
bool MovesInOrder(const Instruction& instruction);

// A fusion of movement steps alone, of which one moves elements to other
// places.
bool IsMovementFusion(const Instruction& fusion);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_DATA_MOVEMENT_H_
