// Kernels of scatters by row number, as passes/expanders/gather_canonicalizer.h
// leaves them: the gradient of an embedding.
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_SCATTER_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_SCATTER_H_

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/kernel_emitter.h"

namespace ptxla::lowering {

// table[index[n], :] op= updates[n, :]; equal indices see each other's results.
// Or of a 1-D table's single words. scatter_forms.h says in which ways. The
// result takes over the table's memory. Unimplemented: other than whole rows of
// words; a body of more than one operation.
absl::StatusOr<isa::Kernel> EmitScatter(const KernelContext& context,
                                        const hlo::Instruction& i);

// The same into one value: analysis/filled_scatter.h.
absl::StatusOr<isa::Kernel> EmitFilledScatter(const KernelContext& context,
                                              const hlo::Instruction& fusion);

// Of whole planes (analysis/plane_scatter.h).
absl::StatusOr<isa::Kernel> EmitPlaneScatter(const KernelContext& context,
                                             const hlo::Instruction& i);

// Of whole planes that updates replace: one DMA each, wherever the two lie.
absl::StatusOr<isa::Kernel> EmitPlaneReplacement(const KernelContext& context,
                                                 const hlo::Instruction& i);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_SCATTER_H_
