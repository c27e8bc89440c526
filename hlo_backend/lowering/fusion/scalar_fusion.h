// Scalars that lie in SMEM: a few bundles of the scalar unit between kernels,
// without windows and without the entry of a kernel.
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_SCALAR_FUSION_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_SCALAR_FUSION_H_

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/kernel_plan.h"
#include "isa/kernel.h"

namespace ptxla::lowering {

// hlo::IsScalarUnitWork or a copy, and all of its values lie in SMEM.
bool IsScalarKernel(const hlo::Instruction& instruction);

absl::StatusOr<isa::Kernel> EmitScalarKernel(const KernelContext& context,
                                             const hlo::Instruction& i);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_SCALAR_FUSION_H_
