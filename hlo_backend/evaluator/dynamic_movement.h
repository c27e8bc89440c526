// What moves, joins and sorts arrays whose dimensions are below their bound
// (dynamic_sizes.h): as if each were an array of just the elements that count.
#ifndef PTXLA_HLO_BACKEND_EVALUATOR_DYNAMIC_MOVEMENT_H_
#define PTXLA_HLO_BACKEND_EVALUATOR_DYNAMIC_MOVEMENT_H_

#include <functional>
#include <optional>

#include "absl/status/statusor.h"
#include "hlo_backend/evaluator/operations.h"

namespace ptxla::hlo {

// Gives an instruction's value from operands that are arrays of their own.
using StaticEvaluation =
    std::function<absl::StatusOr<Value>(absl::Span<Value>)>;

// The sizes that count, which are the bounds of an array without.
DimVector SizesOf(const Value& x);

// Nothing for an opcode that is not of this kind.
//
// Slices, gathers and updates find their place by the bounds, as in XLA; a
// slice or an offset of a whole dimension keeps its size. Concatenations are
// without gaps; padding follows what counts; sorting leaves what does not
// count behind; windows see the initial value there, products zeros.
std::optional<absl::StatusOr<Value>> EvalDynamicMovement(
    const Instruction& i, absl::Span<Value> operands,
    const StaticEvaluation& evaluate);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_EVALUATOR_DYNAMIC_MOVEMENT_H_
