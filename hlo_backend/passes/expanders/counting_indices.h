// Index vectors whose parts count along a dimension of the indices:
//
//   x[arange(n), t]      gather(x, concatenate(iota, t)), start_index_map={0,1}
//
// Such a part names nothing: the dimension that it indexes goes along with that
// of the indices, as a batching dimension does.
//
//   gather(x, t), operand_batching_dims={0}, start_indices_batching_dims={0},
//   start_index_map={1}
//
// A negative position counted from the end (select(i < 0, i + n, i)) counts as
// what is selected.
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_COUNTING_INDICES_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_COUNTING_INDICES_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Element [..., i, ...] at `dim` of an integer array is i.
bool CountsAlong(const Instruction& value, int64_t dim);

// The gather or scatter with batching dimensions instead of such parts, added
// to its computation; null: it has none, or nothing else.
Instruction* WithoutCountingIndices(Instruction* i);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_COUNTING_INDICES_H_
