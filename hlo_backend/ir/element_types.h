// Which element types an opcode takes: XLA's rules of shape inference, with
// what no backend of XLA computes left out (docs/hlo.md lists those).
//
//   CheckElementType(Opcode::kPopulationCount, s8[4])   OK
//   CheckElementType(Opcode::kDivide, pred[4])
//       "divide takes integers, floats or complex numbers, not pred[4]"
#ifndef PTXLA_HLO_BACKEND_IR_ELEMENT_TYPES_H_
#define PTXLA_HLO_BACKEND_IR_ELEMENT_TYPES_H_

#include "absl/status/status.h"
#include "hlo_backend/ir/opcode.h"
#include "hlo_backend/ir/shape.h"

namespace ptxla::hlo {

// Opcodes without a rule of their own (add, compare, copy, slice ...) take
// every element type.
absl::Status CheckElementType(Opcode opcode, const Shape& operand);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_ELEMENT_TYPES_H_
