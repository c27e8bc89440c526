// What a custom call costs, as far as it is known: from the cost_estimate that
// a Pallas kernel carries in its backend config, else by its target
// (data/custom_calls.txt).
//
//   if (const auto cost = CustomCallCost(*call, bytes)) total += *cost;
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_CUSTOM_CALL_COST_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_CUSTOM_CALL_COST_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "hlo_backend/analysis/cost_analysis.h"

namespace ptxla::hlo {

// `bytes_read` and `bytes_written` are those of all operands and results.
// Nothing: no rule for this target.
std::optional<Cost> CustomCallCost(const Instruction& call, double bytes_read,
                                   double bytes_written);

// An annotation, or a view of its operand: no device runs it.
bool IsFreeCustomCall(absl::string_view target);
// A whole attention that another accelerator has as a call: its products and
// bytes are known, not its kernel.
bool IsForeignAttention(const Instruction& i);
// MoveToHost, or an annotation that places its operand in host memory.
bool MovesToHost(const Instruction& i);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_CUSTOM_CALL_COST_H_
