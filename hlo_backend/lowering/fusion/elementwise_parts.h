// Elementwise operations by the kind of their values: the parts of
// EmitElementwise (vector_math.h).
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_ELEMENTWISE_PARTS_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_ELEMENTWISE_PARTS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo_backend/lowering/fusion/vector_math.h"

namespace ptxla::lowering {

// Unimplemented, with the instruction, its shape and the reason.
absl::Status NoSequence(const hlo::Instruction& i, absl::string_view why);

// Arithmetic on narrow integers wraps at their width.
codegen::Vec WrapInteger(codegen::CodeBuilder& b, hlo::PrimitiveType type,
                         codegen::Vec x);

// The lower 32 bits of the product.
codegen::Vec MultiplyIntegers(codegen::CodeBuilder& b, codegen::Vec x,
                              codegen::Vec y);

// Of integers of 32 bits, signed or not by `type`. No chip has a signed maximum
// or minimum, those before v6e no unsigned one either: comparisons and
// selections.
codegen::Vec MaximumOf(codegen::CodeBuilder& b, hlo::PrimitiveType type,
                       codegen::Vec x, codegen::Vec y);
codegen::Vec MinimumOf(codegen::CodeBuilder& b, hlo::PrimitiveType type,
                       codegen::Vec x, codegen::Vec y);

// x / y or x % y of integers of 32 bits, bit by bit (integer_division.cc). As
// XLA has it: a number divided by 0 is all ones, its remainder itself.
codegen::Vec DivideIntegers(codegen::CodeBuilder& b, hlo::PrimitiveType type,
                            codegen::Vec x, codegen::Vec y, bool remainder);

absl::StatusOr<Value> FloatOp(codegen::CodeBuilder& b,
                              const hlo::Instruction& i,
                              absl::Span<const Value> in);
absl::StatusOr<Value> IntegerOp(codegen::CodeBuilder& b,
                                const hlo::Instruction& i,
                                absl::Span<const Value> in, bool wraps);
// Of masks.
absl::StatusOr<Value> PredOp(codegen::CodeBuilder& b, const hlo::Instruction& i,
                             absl::Span<const Value> in);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_ELEMENTWISE_PARTS_H_
