// A reduce over blocks of neighbouring lanes with the numbers of a block as
// planes, for minor_planes.h where nothing else stands on the blocks.
//
//   %b = f32[4096,1024,4] reshape(f32[4096,4096] %x)
//   reduce(%b), dimensions={2}
//   ==> reduce(f32[4,4096,1024] transpose(%b)), dimensions={0}
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_BLOCK_REDUCES_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_BLOCK_REDUCES_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Null: another instruction, or more bytes would move.
Instruction* OverPlanes(Instruction* reduce, int generation);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_BLOCK_REDUCES_H_
