// Operations on arrays with dimensions below their bound.
//
// An array of shape f32[<=8] is stored with its 8 elements; the value knows
// that, say, 3 of them count (Value::sizes). set-dimension-size makes such
// values. What computes element by element or moves dimensions passes sizes
// on; reduce and dot leave out what lies beyond; dynamic_movement.h has slices,
// sorts and windows. Other operations are refused.
#ifndef PTXLA_HLO_BACKEND_EVALUATOR_DYNAMIC_SIZES_H_
#define PTXLA_HLO_BACKEND_EVALUATOR_DYNAMIC_SIZES_H_

#include <functional>

#include "absl/status/statusor.h"
#include "hlo_backend/evaluator/operations.h"

namespace ptxla::hlo {

// Some operand has sizes below its bounds.
bool AnyDynamic(absl::Span<const Value> operands);

// The value of an instruction with such operands. `evaluate` gives its value
// when all elements count; it is asked after what does not count has been
// overwritten where it would take part.
absl::StatusOr<Value> EvalDynamic(
    const Instruction& i, absl::Span<Value> operands,
    const std::function<absl::StatusOr<Value>(absl::Span<Value>)>& evaluate);

// `x` with `element` in every place beyond its sizes, and no sizes.
Value FilledBeyondSizes(const Value& x, const uint8_t* element);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_EVALUATOR_DYNAMIC_SIZES_H_
