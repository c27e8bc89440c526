// A cumulative sum along rows or lanes as two levels, as XLA's
// ReduceWindowRewriter has it: of blocks of kPrefixBlock, then of what the
// blocks come to, which goes to all that follows. Many short chains run side by
// side instead of one that is as long as the array.
//
//   cumsum [8,32000]  ->  y = cumsum of each row of [8,250,128]
//                         t = cumsum of the last of each row, the row before
//                         y + broadcast(t)
//
// Also of maxima, products, and from the end. Along planes a running value
// keeps up with HBM: that stays one level.
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_PREFIX_BLOCKS_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_PREFIX_BLOCKS_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// XLA's `base_length`: the lanes of a register.
inline constexpr int64_t kPrefixBlock = 128;

// The value that stands for a simple reduce-window (plane_windows.h) that has
// more than one block; null: it is none, or begins with something of its own.
Instruction* PrefixInBlocks(Instruction* i);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_PREFIX_BLOCKS_H_
