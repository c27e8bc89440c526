// A box of elements taken out of an array, or put into one.
//
//   const Value rows = PartOf(x, {2, 0}, {3, 8});   // x[2:5, 0:8]
//   PutPart(rows, {0, 0}, &y);                      // y[0:3, 0:8] = rows
#ifndef PTXLA_HLO_BACKEND_EVALUATOR_VALUE_PARTS_H_
#define PTXLA_HLO_BACKEND_EVALUATOR_VALUE_PARTS_H_

#include "hlo_backend/evaluator/value.h"
#include "hlo_backend/ir/layout.h"

namespace ptxla::hlo {

// The box of these sizes that starts at `starts` and lies inside `x`. A splat
// gives a splat.
Value PartOf(const Value& x, const DimVector& starts, const DimVector& sizes);
// All of `x` but of dimension d only the indices in [begin, end).
Value PartAlong(const Value& x, int64_t d, int64_t begin, int64_t end);
// Writes `part`, which has the rank of `whole` and lies inside it, at `starts`.
void PutPart(const Value& part, const DimVector& starts, Value* whole);
// Index `at` of dimension d, which goes: x[..., at, ...].
Value WithoutDim(const Value& x, int64_t d, int64_t at);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_EVALUATOR_VALUE_PARTS_H_
