// The general reduction, for others than the reduce instruction.
#ifndef PTXLA_HLO_BACKEND_EVALUATOR_REDUCE_H_
#define PTXLA_HLO_BACKEND_EVALUATOR_REDUCE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo_backend/evaluator/scalar_program.h"
#include "hlo_backend/evaluator/value.h"

namespace ptxla::hlo {

// acc = program(acc, x) over the elements of `dimensions` in row-major order,
// for all kept elements at once. One result of shape results[j] per operand.
absl::StatusOr<std::vector<Value>> ReduceByProgram(
    const ScalarProgram& program, absl::Span<const Value> operands,
    absl::Span<const Value> inits, absl::Span<const Shape> results,
    absl::Span<const int64_t> dimensions);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_EVALUATOR_REDUCE_H_
