// Evaluating HLO text in tests, and comparing literals with a tolerance.
#ifndef PTXLA_TESTS_HLO_BACKEND_EVALUATOR_EVALUATE_TEXT_H_
#define PTXLA_TESTS_HLO_BACKEND_EVALUATOR_EVALUATE_TEXT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo_backend/evaluator/evaluator.h"

namespace ptxla::hlo {

absl::StatusOr<Literal> EvaluateText(absl::string_view text,
                                     const std::vector<Literal>& arguments,
                                     const EvaluatorOptions& options = {});

// What `text` evaluates to, printed; the message if it is refused. Example:
//   ValueOf("HloModule m\nENTRY e { ROOT x = s32[2] iota(), iota_dimension=0
//   }")
// is "{0, 1}".
std::string ValueOf(absl::string_view text,
                    const std::vector<Literal>& arguments = {});

// The leaves of nested tuples, in order.
std::vector<Literal> Flatten(const Literal& literal);

// "" if they agree: same type and dimensions; NaN where NaN is wanted, equal
// infinities; finite numbers within `tolerance` of the largest finite
// magnitude of `want`; integers and pred equal.
std::string Difference(const Literal& got, const Literal& want,
                       double tolerance);

}  // namespace ptxla::hlo

#endif  // PTXLA_TESTS_HLO_BACKEND_EVALUATOR_EVALUATE_TEXT_H_
