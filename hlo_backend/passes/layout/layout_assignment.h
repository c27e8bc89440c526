// Gives every array a layout with the tiles of the chip.
//
// Parameters and results of the entry keep the dimension order of the module's
// entry layout; everything inside is row-major (descending minor_to_major).
// Where a value meets a user that wants another order, a copy changes it. A
// reshape that moves no bytes becomes a bitcast, and so does a transpose whose
// operand's layout makes it one; the others stay data movement.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_LAYOUT_ASSIGNMENT_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_LAYOUT_ASSIGNMENT_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class LayoutAssignmentPass : public Pass {
 public:
  absl::string_view name() const override { return "layout-assignment"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_LAYOUT_ASSIGNMENT_H_
