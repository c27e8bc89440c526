// A fusion's body, or a lone instruction, that is taken out of a scheduled
// module and goes through a pipeline as a module of its own: what that makes of
// it lies at its borders as it did before.
//
//   RETURN_IF_ERROR(CompileBody(&apart, context, pipeline));
#ifndef PTXLA_HLO_BACKEND_PASSES_SCHEDULED_BODY_COMPILER_H_
#define PTXLA_HLO_BACKEND_PASSES_SCHEDULED_BODY_COMPILER_H_

#include "hlo_backend/passes/pass.h"
#include "hlo_backend/passes/pipeline.h"

namespace ptxla::hlo {

// `apart` has layouts and no schedule; afterwards its entry is kernels. Where
// all that it does can be said of row-major arrays (row_major.h), no copies
// stand at the borders. Reduces of narrow numbers become reduces of 32 bits,
// products over dimensions that lie apart sums of products.
absl::Status CompileBody(Module* apart, const PassContext& context,
                         const Pipeline& pipeline);

// Does a dot contract dimensions that lie apart?
bool ContractsPlanes(const Instruction& dot);

// Operands that lie in VMEM are copied to HBM first: for a movement that has a
// kernel from there only.
void TakeFromHbm(Computation* entry);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SCHEDULED_BODY_COMPILER_H_
