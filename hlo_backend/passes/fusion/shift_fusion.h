// Loops read parts of arrays where they are: slices, concatenations and padded
// arrays that begin inside of tiles (IsShift), and that only loops and reduces
// over their own shape read, go into these, which move them into place block by
// block.
//
//   subtract(slice(x, [1:4096]), slice(x, [0:4095]))     // one kernel
//
// On a module with layouts, after `fusion`.
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_SHIFT_FUSION_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_SHIFT_FUSION_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class ShiftFusionPass : public Pass {
 public:
  absl::string_view name() const override { return "shift-fusion"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_SHIFT_FUSION_H_
