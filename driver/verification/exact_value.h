// What a module would give without rounding on the way: bf16, f16 and floats of
// 8 and 4 bits widened to f32, sums in double. Who converts to 8 or 4 bits
// quantises: that rounding is meant, and stays. How far the TPU's value is from
// it is the noise that its roundings make, and no two orders of summation agree
// better than that: the gradient of an attention key's bias is zero, and all
// that is computed of it is noise.
//
//   ASSIGN_OR_RETURN(const Literal exact,
//                    EvaluateWidened(*module, arguments, options));
#ifndef PTXLA_DRIVER_VERIFICATION_EXACT_VALUE_H_
#define PTXLA_DRIVER_VERIFICATION_EXACT_VALUE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::driver {

// Floats of at most 16 bits anywhere in it?
bool HasNarrow(const hlo::Shape& shape);
// The same numbers, those of narrow floats in f32.
hlo::Literal Widened(const hlo::Literal& from);

// The result has f32 where the module has narrow floats. `compared_off`: what
// arrays of narrow floats are compared with others is larger by this part, as
// roundings on the way may make it. Errors: those of the evaluator.
absl::StatusOr<hlo::Literal> EvaluateWidened(
    const hlo::Module& module, absl::Span<const hlo::Literal> arguments,
    hlo::EvaluatorOptions options, double compared_off = 0);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_VERIFICATION_EXACT_VALUE_H_
