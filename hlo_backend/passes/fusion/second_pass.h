// Values of two arrays that are made again in the second kernel that reads
// them, because a third one would pass over the arrays anyway.
//
//   %d  = f32[8192,4096] add(multiply(%g, %a), multiply(%x, %b))
//   %rs = f32[8192] reduce(%d), dimensions={1}
//   %dx = f32[8192,4096] add(%d, broadcast(%rs))
//   %ds = f32[4096] reduce(multiply(%g, %x)), dimensions={0}
//
// To store %d and to load it moves as many bytes as to read %g and %x once
// more. Stored, %ds would pass over %g and %x in a kernel of its own; made
// again, %d reads in the kernel of %dx what %ds needs there: one pass less. So
// has the TPU compiler the gradients of normalisations.
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_SECOND_PASS_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_SECOND_PASS_H_

#include "absl/types/span.h"
#include "hlo_backend/passes/fusion/fusion_nodes.h"

namespace ptxla::hlo {

// Do exactly two kernels read `value`, the first for sums and the second behind
// them, and do sums over other dimensions, which do not need it and which the
// second does not wait for, read one of `arrays`?
bool MeetsOtherSums(const FusionNodes& nodes, const Instruction& value,
                    absl::Span<const Instruction* const> arrays);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_SECOND_PASS_H_
