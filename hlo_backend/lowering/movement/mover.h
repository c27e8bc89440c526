// Kernels of movements whose rows stay rows: reshape, slice, concatenate, pad,
// copy between layouts, and transposes that keep the minor dimension.
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_MOVER_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_MOVER_H_

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/kernel_emitter.h"

namespace ptxla::lowering {

// Keeps the scheduler's blocks of bundles short.
inline constexpr int kMoverRegisters = 32;

// `i`: a movement (index_map.h). `registers`: of the result, in one block of
// bundles. Unimplemented if no block of it fits VMEM, ResourceExhausted if what
// the registers are put together from does not fit the chip's; with `spills`
// some of it may wait in memory.
absl::StatusOr<isa::Kernel> EmitMover(const KernelContext& context,
                                      const hlo::Instruction& i,
                                      int registers = kMoverRegisters,
                                      bool spills = false);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_MOVER_H_
