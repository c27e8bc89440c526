// What a scatter's body does with an update.
//
//   (x, y) -> y               replaces what was there
//   (x, y) -> add(x, y)       one operation (monoid.h)
//   (x0, x1, y0, y1) -> tuple(add(x0, y0), y1)    of several arrays
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_SCATTER_BODY_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_SCATTER_BODY_H_

#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

// A scatter of one array: its update takes the old value's place.
bool ReplacesOldValue(const Computation& body);

// Of array `k` of so many: its update replaces the old value or is combined
// with it by one operation that may be done in any order; the other arrays have
// no part in it.
bool IsOneOperation(const Computation& body, int k, int arrays);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_SCATTER_BODY_H_
