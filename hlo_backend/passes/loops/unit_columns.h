// Arrays that a loop carries lose their last dimension where it has one
// element: [N, 1] would take a tile of 128 lanes for each. What a gradient
// keeps of a normalisation or a softmax, iteration by iteration (rsqrt of each
// row, with `keepdims`), is such a stack. The TPU compiler gives it another
// order of dimensions.
//
//   while((i, f32[4,2048,1] stack)) { dynamic-update-slice(stack, r, i, 0, 0) }
//   ==> while((i, f32[4,2048] stack)) {
//         dynamic-update-slice(stack, reshape(r), i, 0) }
//
// Slices of it and updates are those of the smaller array, other readers have a
// reshape before them. Stacks of single numbers stay: a row of a tile is moved
// more easily than a lane.
#ifndef PTXLA_HLO_BACKEND_PASSES_LOOPS_UNIT_COLUMNS_H_
#define PTXLA_HLO_BACKEND_PASSES_LOOPS_UNIT_COLUMNS_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class UnitColumnsPass : public Pass {
 public:
  absl::string_view name() const override { return "unit-columns"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LOOPS_UNIT_COLUMNS_H_
