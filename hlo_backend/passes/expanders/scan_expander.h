// scan as a while loop over one dimension of its inputs.
//
//   (y, last) = (f32[8,128], f32[128]) scan(x, first), dimensions={0},
//               num_carries=1, to_apply=step
//   ==>
//   state = (s32[], f32[8,128] x, f32[8,128] y, f32[128] carry)
//   while (index < 8): (row, carry) = step(x[index], carry); y[index] = row
//
// is_reverse counts down. Left alone: a scan along several dimensions, or
// without inputs, as the evaluator refuses them.
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_SCAN_EXPANDER_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_SCAN_EXPANDER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class ScanExpanderPass : public Pass {
 public:
  absl::string_view name() const override { return "scan-expander"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_SCAN_EXPANDER_H_
