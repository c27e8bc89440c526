// transpose(x) by a permutation: of a transpose one transpose, and none where
// nothing changes places.
//
//   Transposed(&b, transpose(y, {1,0}), {1,0}) == y
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_TRANSPOSED_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_TRANSPOSED_H_

#include "absl/types/span.h"
#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {

Instruction* Transposed(Builder* b, Instruction* x,
                        absl::Span<const int64_t> permutation);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_TRANSPOSED_H_
