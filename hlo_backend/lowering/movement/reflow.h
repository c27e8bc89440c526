// A reshape whose blocks are all different: the elements of a block, in order,
// go through a line in VMEM. Rows of the operand are laid into the line one
// after another, each rotated to where the last one ends; rows of the result
// are cut out of it.
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_REFLOW_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_REFLOW_H_

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/kernel_emitter.h"

namespace ptxla::lowering {

// Reshapes of words between row-major layouts. Unimplemented: others, planes
// too large for VMEM whose rows do not fill tiles.
absl::StatusOr<isa::Kernel> EmitReflow(const KernelContext& context,
                                       const hlo::Instruction& i);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_REFLOW_H_
