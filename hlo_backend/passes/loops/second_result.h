// One more result of a kernel: an array that it makes, stored a second time,
// where another place in memory has to have it (planes_in_place.h).
//
//   %h = f32[64,512]{..S(1)} multiply(%a, %b)
//   ==> %f = (f32[64,512]{..S(1)}, f32[64,512]) fusion(%a, %b)
//       %h = get-tuple-element(%f), index=0      // of all who read it
//       %second = get-tuple-element(%f), index=1
#ifndef PTXLA_HLO_BACKEND_PASSES_LOOPS_SECOND_RESULT_H_
#define PTXLA_HLO_BACKEND_PASSES_LOOPS_SECOND_RESULT_H_

#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/memory/memory_places.h"

namespace ptxla::hlo {

// A loop over elements or a product, of which `made` is no sum.
bool MayStoreTwice(const MemoryPlace& made);

// The second result, in memory space `space`, behind its kernel in the
// schedule.
Instruction* AddSecondResult(const MemoryPlace& made, int space);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LOOPS_SECOND_RESULT_H_
