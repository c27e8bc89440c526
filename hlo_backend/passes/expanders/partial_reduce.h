// PartialReduce, the first step of an approximate top-k: of elements that are a
// whole number of results apart, the first by the comparator, and where it was.
// What sorts after it has few left; two of the best that share a place are one,
// which is the recall that is given away.
//
//   PartialReduce(f32[32,100000], iota) -> (f32[32,256], s32[32,256])
//   ==> reduce(f32[32,391,256], iota) along 391, body: the first of two
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_PARTIAL_REDUCE_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_PARTIAL_REDUCE_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Null: not of values and s32 positions counted along `dim`, or by a comparator
// that is not elementwise.
Instruction* ReducedInPart(Instruction* call, int64_t dim);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_PARTIAL_REDUCE_H_
