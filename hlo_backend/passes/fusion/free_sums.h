// Reduces of what reads no large array (one-hot labels, counts): in a kernel
// that reduces an array over the same dimensions.
//
//   %hot = f32[8192,32000] select(compare(%iota, broadcast(%labels)), ...)
//   %s = f32[8192] reduce(%hot), dimensions={1}
//   %m = f32[8192] reduce(%scores), dimensions={1}   // %s is made here, too
//
// Alone, such a kernel is only the vector units'; beside an array that comes
// from HBM they have time. The TPU compiler does so (losses over labels).
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_FREE_SUMS_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_FREE_SUMS_H_

#include "absl/types/span.h"
#include "hlo_backend/passes/fusion/fused_inputs.h"
#include "hlo_backend/passes/fusion/kernel_groups.h"

namespace ptxla::hlo {

// `order`: the instructions of the groups, operands before users.
void JoinFreeSums(absl::Span<Instruction* const> order,
                  const FusionChains& chains, const FusedInputs& inputs,
                  KernelGroups* groups);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_FREE_SUMS_H_
