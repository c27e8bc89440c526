// Reduces of the minor dimension of what is there in any order, pairs of two
// small arrays: that dimension lies in rows where no more is padded so. Values
// are then added register by register, where along lanes they are the XLU's.
//
//   f32[512,512] reduce(f(f32[512,512,64] broadcast(f32[512,64] a), {0,2},
//                         f32[512,512,64] broadcast(f32[512,64] b), {1,2})),
//                       dimensions={2}
//   ==> reduce(f(f32[512,64,512] broadcast(a), {0,1},
//                f32[512,64,512] broadcast(transpose(b)), {1,2})),
//              dimensions={1}
//
// As in the TPU compiler (libtpu 0.0.42.1: distances of all pairs).
#ifndef PTXLA_HLO_BACKEND_PASSES_SPREAD_REDUCE_H_
#define PTXLA_HLO_BACKEND_PASSES_SPREAD_REDUCE_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// The reduce that takes the place of `reduce`; null: it stays.
Instruction* TurnedSpreadReduce(Instruction* reduce);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SPREAD_REDUCE_H_
