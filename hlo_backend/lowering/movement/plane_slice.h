// dynamic-slice of whole planes (a layer's weights or activations out of the
// stack that a loop walks): one DMA, whose source the start indices decide.
//
//   bf16[1,2048,4096] dynamic-slice(bf16[4,2048,4096], layer, 0, 0)
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_PLANE_SLICE_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_PLANE_SLICE_H_

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/kernel_emitter.h"

namespace ptxla::lowering {

// All rows and columns, from HBM. (Out of VMEM registers are faster.) Offsets
// are signed 32-bit bytes, as for every transfer whose place is data: of a
// stack beyond 2 GiB the time is right, the address is not.
bool IsPlaneSlice(const hlo::Instruction& i);
absl::StatusOr<isa::Kernel> EmitPlaneSlice(const KernelContext& context,
                                           const hlo::Instruction& i);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_PLANE_SLICE_H_
