// The result shape of every opcode from operand shapes, attributes and called
// computations. Layouts are not inferred: results have none.
//
//   ASSIGN_OR_RETURN(Shape s, InferShape(Opcode::kDot, {&a, &b}, attrs));
//
// Errors are InvalidArgument and say which rule is broken, without the
// instruction's name (the caller adds it). Opcodes whose result cannot be
// inferred (parameter, constant, custom-call, recv, infeed, rng, bitcast,
// bitcast-convert, convert, broadcast, iota, reshape ...) take `declared`, the
// shape that was given, check it as far as possible and return it.
#ifndef PTXLA_HLO_BACKEND_IR_SHAPE_INFERENCE_H_
#define PTXLA_HLO_BACKEND_IR_SHAPE_INFERENCE_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

// `declared` may be nullptr: then those opcodes are refused that need it.
absl::StatusOr<Shape> InferShape(Opcode opcode,
                                 absl::Span<const Shape* const> operands,
                                 const Attributes& attributes,
                                 absl::Span<Computation* const> called = {},
                                 const Shape* declared = nullptr);

// For an existing instruction; its own shape is `declared`.
absl::StatusOr<Shape> InferShape(const Instruction& instruction);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_SHAPE_INFERENCE_H_
