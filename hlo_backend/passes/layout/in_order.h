// Values with their dimensions in another order, by as little movement as there
// may be.
//
//   InOrder(b, x, {2, 0, 1})   // f32[8,16,3] x: f32[3,8,16]
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_IN_ORDER_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_IN_ORDER_H_

#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {

// Dimension k of the result is dimension order[k] of the value. A transpose of
// what the value is a transpose of; a broadcast of what it is a broadcast of;
// an iota.
Instruction* InOrder(Builder& b, Instruction* value, DimVector order);

// Does that move nothing of the value's size?
bool IsFreeInOrder(const Instruction& value);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_IN_ORDER_H_
