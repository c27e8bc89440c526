// Index vectors whose parts count along a dimension of the indices:
//
//   x.at[arange(n), t].add(y)
//   scatter(x, concatenate(iota, t), y), scatter_dims_to_operand_dims={0,1}
//
// Such a part names nothing: the dimension that it indexes goes along with that
// of the indices, as a batching dimension does.
//
//   scatter(x, t, y), input_batching_dims={0},
//   scatter_indices_batching_dims={0}, scatter_dims_to_operand_dims={1}
//
// A negative position counted from the end (select(i < 0, i + n, i)) counts as
// what is selected.
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_COUNTING_INDICES_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_COUNTING_INDICES_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Element [..., i, ...] at `dim` of an integer array is i.
bool CountsAlong(const Instruction& value, int64_t dim);

// The scatter with batching dimensions instead of such parts, added to its
// computation; null: it has none, or nothing else, or several arrays.
Instruction* WithoutCountingIndices(Instruction* i);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_COUNTING_INDICES_H_
