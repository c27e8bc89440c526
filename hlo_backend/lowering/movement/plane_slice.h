// Slices of whole planes: one DMA. Of a dynamic-slice (a layer's weights or
// activations out of the stack that a loop walks) the start indices decide its
// source. Of a slice with an array in VMEM the planes may have any size, where
// registers want rows of whole ones.
//
//   bf16[1,2048,4096] dynamic-slice(bf16[4,2048,4096], layer, 0, 0)
//   bf16[4,113,113,64] slice(bf16[4,114,113,64]), slice={[0:4],[0:113],...}
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_PLANE_SLICE_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_PLANE_SLICE_H_

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/kernel_emitter.h"

namespace ptxla::lowering {

// All rows and columns; of dynamic-slices from HBM. Out of VMEM registers are
// faster.
bool IsPlaneSlice(const hlo::Instruction& i);
absl::StatusOr<isa::Kernel> EmitPlaneSlice(const KernelContext& context,
                                           const hlo::Instruction& i);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_PLANE_SLICE_H_
