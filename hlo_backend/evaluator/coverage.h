// Which opcodes the evaluator computes. Some of those it does not compute on
// every operand; then the error names the instruction and what stands against
// it.
//
//   WhyNotEvaluated(Opcode::kDot) == ""
//   WhyNotEvaluated(Opcode::kInfeed) == "what it gives is not in the module"
#ifndef PTXLA_HLO_BACKEND_EVALUATOR_COVERAGE_H_
#define PTXLA_HLO_BACKEND_EVALUATOR_COVERAGE_H_

#include "absl/strings/string_view.h"
#include "hlo_backend/ir/opcode.h"

namespace ptxla::hlo {

// Empty for an opcode that is evaluated, else the reason why it is not.
absl::string_view WhyNotEvaluated(Opcode opcode);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_EVALUATOR_COVERAGE_H_
