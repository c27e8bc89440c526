// Kernels of gathers by row number, as passes/expanders/gather_canonicalizer.h
// leaves them: embedding lookups.
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_GATHER_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_GATHER_H_

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/kernel_emitter.h"

namespace ptxla::lowering {

// Unimplemented: other than whole rows of a 2-D array, planes, or elements.
absl::StatusOr<isa::Kernel> EmitGather(const KernelContext& context,
                                       const hlo::Instruction& i);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_GATHER_H_
