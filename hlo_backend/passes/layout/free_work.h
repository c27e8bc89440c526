// Work on what costs nothing in any order of dimensions: elementwise, on
// broadcasts, numbers of a dimension and constants of one value. It is made in
// the order in which it is read:
//
//   %e = pred[8192,1000] compare(broadcast(%labels), iota)
//   %t = pred[1000,8192] transpose(%e), dimensions={1,0}
//   ==>
//   %t = pred[1000,8192] compare(broadcast(%labels), iota)
//
// So are sums of it (distances of all pairs).
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_FREE_WORK_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_FREE_WORK_H_

#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {

// A broadcast, an iota, a constant of one value.
bool IsFree(const Instruction& i);
// That, or elementwise work on nothing else.
bool IsFreeWork(const Instruction& i);

// Dimension k of the result is dimension order[k] of the free work.
Instruction* FreeWorkInOrder(Builder& b, Instruction* work,
                             const DimVector& order);

// What takes the place of a transpose of free work, or of a reduce of it, that
// nobody else reads; null: `i` is none.
Instruction* MadeInOrder(Builder& b, Instruction* i);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_FREE_WORK_H_
