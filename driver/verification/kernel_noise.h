// How far the values of one kernel may be from the evaluator's though nothing
// is wrong: what its own roundings make (exact_value.h), and what the last bits
// of its operands decide. The sum of what is above a row's mean is zero: any
// order of summation gives another number, and none is nearer to the truth.
//
//   KernelNoise noise(*fusion, operands, options);
//   if (error.worst > 2 * noise.Of(expected, {})) ...
//   if (error.differing > 2 * noise.Differing(expected, {})) ...  // integers
#ifndef PTXLA_DRIVER_VERIFICATION_KERNEL_NOISE_H_
#define PTXLA_DRIVER_VERIFICATION_KERNEL_NOISE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "driver/verification/value_error.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::driver {

// `values` with the f32 and narrower floats up or down by a few last bits of
// f32: what depends on these is noise. Narrow floats are widened. `opposite`:
// down what is up otherwise, so that a value at the border of two whole numbers
// is on either side of it in one of the two.
std::vector<hlo::Literal> SlightlyOff(absl::Span<const hlo::Literal> values,
                                      bool opposite);

class KernelNoise {
 public:
  KernelNoise(const hlo::Instruction& kernel,
              const std::vector<hlo::Literal>& operands,
              const hlo::EvaluatorOptions& options);

  // Of the array `at` of the kernel's result: what overflows a narrow float on
  // the way counts as in f32.
  ValueError Error(const hlo::Literal& expected, const hlo::ShapeIndex& at,
                   const hlo::Literal& actual) const;

  // ValueError::worst of the array `at` of the kernel's result between the
  // evaluator's value and the noisy ones; 0 where there are none, or where they
  // are infinite or no numbers: that excuses nothing.
  double Of(const hlo::Literal& expected, const hlo::ShapeIndex& at) const;

  // Elements of the array `at`, of integers or predicates, that roundings on
  // the way decide: a quotient that is rounded to a whole number, a comparison.
  int64_t Differing(const hlo::Literal& expected,
                    const hlo::ShapeIndex& at) const;

 private:
  // Without roundings; the same of operands that are slightly off, both ways.
  absl::StatusOr<hlo::Literal> exact_, off_, opposite_;
};

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_VERIFICATION_KERNEL_NOISE_H_
