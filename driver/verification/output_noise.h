// How far an output of a whole program may be from the evaluator's value though
// every kernel is right: differences of order and rounding have gone through
// all of them.
//
//   OutputError o = ...;  // compared, with Tolerance::Program
//   RETURN_IF_ERROR(JudgeByNoise(program, values, &outputs));
//   if (Wrong(outputs[0])) ...
#ifndef PTXLA_DRIVER_VERIFICATION_OUTPUT_NOISE_H_
#define PTXLA_DRIVER_VERIFICATION_OUTPUT_NOISE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "driver/verification/value_error.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::driver {

struct OutputError {
  std::string name;  // "{3}"
  hlo::Shape shape;
  ValueError error;
  double tolerance = 0;  // of error.mean; integers: 0
  // How far the evaluator's value is from one without roundings; computed only
  // where the error is beyond the tolerance, which then is twice that.
  std::optional<double> noise;
};

inline bool Wrong(const OutputError& o) { return o.error.mean > o.tolerance; }

struct NoisyProgram {
  const hlo::Module& input;
  absl::Span<const hlo::Literal> arguments;
  const hlo::Literal& expected;  // the evaluator's result
  const hlo::EvaluatorOptions& options;
  int bits;  // of the narrowest float that it computes in
};

// Gives those of `outputs` that are wrong the tolerance of their noise: what
// the evaluator's value is off from values without roundings, and of integers
// and predicates the elements that a rounding decides (tokens that a threshold
// cuts off, places of maxima). values[k]: what the bundles made of output k,
// where it is wrong. Errors: those of the evaluator.
absl::Status JudgeByNoise(const NoisyProgram& program,
                          absl::Span<const hlo::Literal> values,
                          std::vector<OutputError>* outputs);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_VERIFICATION_OUTPUT_NOISE_H_
