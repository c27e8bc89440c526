// Kernels of sorts: a bitonic network in VMEM (sort_network.h). The sorted
// dimension is whole in a step, the others are cut.
#ifndef PTXLA_HLO_BACKEND_LOWERING_SORTING_SORT_KERNEL_H_
#define PTXLA_HLO_BACKEND_LOWERING_SORTING_SORT_KERNEL_H_

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/kernel_plan.h"

namespace ptxla::lowering {

// Unimplemented as SortProblem::Of says, or if a step does not fit VMEM.
absl::StatusOr<isa::Kernel> EmitSort(const KernelContext& context,
                                     const hlo::Instruction& i);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_SORTING_SORT_KERNEL_H_
