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

// A fusion of such steps alone, of which one moves elements to other places.
bool IsMovementFusion(const Instruction& fusion);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_DATA_MOVEMENT_H_
