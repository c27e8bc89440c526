// Costs of the last instruction of a body of HLO text, for tests.
#ifndef PTXLA_TESTS_HLO_BACKEND_ANALYSIS_ROOT_COST_H_
#define PTXLA_TESTS_HLO_BACKEND_ANALYSIS_ROOT_COST_H_

#include "absl/strings/string_view.h"
#include "hlo_backend/analysis/cost_analysis.h"

namespace ptxla::hlo {

// `body` is what stands between the braces of ENTRY; computations `add`, `max`
// (f32) and `ge` (f32 to pred) can be called. A body that does not parse fails
// the test. Example:
//   RootCost("x = f32[8] parameter(0) ROOT y = f32[8] negate(x)").flops  // 8
Cost RootCost(absl::string_view body, CostOptions options = {});

}  // namespace ptxla::hlo

#endif  // PTXLA_TESTS_HLO_BACKEND_ANALYSIS_ROOT_COST_H_
