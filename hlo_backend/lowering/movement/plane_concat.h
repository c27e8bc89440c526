// Concatenations of planes: one DMA per operand, side by side, where an array
// in VMEM has no windows to stream through.
//
//   bf16[197,32,768] concatenate(bf16[1,32,768], bf16[196,32,768])   // 2 DMAs
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_PLANE_CONCAT_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_PLANE_CONCAT_H_

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/kernel_emitter.h"

namespace ptxla::lowering {

// Along a dimension outside of the tiles, of arrays that lie alike, at least
// one of which is in VMEM.
bool IsPlaneConcat(const hlo::Instruction& i);
absl::StatusOr<isa::Kernel> EmitPlaneConcat(const KernelContext& context,
                                            const hlo::Instruction& i);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_PLANE_CONCAT_H_
