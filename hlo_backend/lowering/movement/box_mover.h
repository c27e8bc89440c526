// Kernels of movements whose dimensions move by themselves (box_map.h), of any
// size: blocks of the result, each with what it takes of the operands, through
// strips in VMEM (strip_mover.h).
//
// Where the host of a dynamic-slice's start, or memory, forbids a window (the
// start is data; the operand is in VMEM), a step fetches its box itself.
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_BOX_MOVER_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_BOX_MOVER_H_

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/kernel_emitter.h"

namespace ptxla::lowering {

// Unimplemented: what box_map.h refuses, more than three dimensions of planes
// that do not lie together.
absl::StatusOr<isa::Kernel> EmitBoxMover(const KernelContext& context,
                                         const hlo::Instruction& i);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_BOX_MOVER_H_
