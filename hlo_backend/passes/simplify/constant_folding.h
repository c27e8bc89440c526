// Replaces instructions whose operands are constants by their value:
// elementwise arithmetic, compares, selects and converts, and reshapes,
// transposes, slices and concatenations of small arrays
// (PassOptions::max_folded_elements; splats of any size). Broadcasts and iotas
// stay: they cost nothing in a kernel. Transcendental functions are not folded:
// the chip decides their last bit.
#ifndef PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_CONSTANT_FOLDING_H_
#define PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_CONSTANT_FOLDING_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class ConstantFoldingPass : public Pass {
 public:
  absl::string_view name() const override { return "constant-folding"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_CONSTANT_FOLDING_H_
