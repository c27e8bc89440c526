// Rows of an array, every so many of another's: what a slice with a stride
// reads, and a pad with interior padding writes.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_STEPPED_ROWS_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_STEPPED_ROWS_H_

#include <cstdint>

#include "hlo_backend/ir/shape.h"
#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

// A kernel moves the rows where they are (lowering/movement/mover.h): a whole
// plane in a step, or part of one where that is the only one, or planes have
// `step` times the tiles, unless the first row of `many`, `start`, lies behind
// the tiles that one of `few` takes: a part would begin with what it skips.
// `few` and `many` differ in their second minor dimension alone.
bool MoverStepsOverRows(const Shape& few, const Shape& many, int64_t start,
                        int64_t step, const PassContext& context);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_STEPPED_ROWS_H_
