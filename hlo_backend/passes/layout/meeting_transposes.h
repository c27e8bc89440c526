// Transposes of whole rows that would meet others, if the work between them
// were done in the order that its product has:
//
//   %s = f32[2,8,4,2048,2048] dot(...)
//   %t = f32[4,2,8,2048,2048] transpose(%s), dimensions={2,0,1,3,4}
//   ... a softmax of %t ...
//   dot(%p, %v), lhs_batch_dims={1,2}      // the product turns it back
//
// That is how `jax.nn.dot_product_attention` writes grouped queries: a mask for
// each head is selected by, and the groups stand before the batch for it.
//
// The work is elementwise, on arrays that come transposed the same way and on
// what costs nothing in any order. Where its values leave it, they meet a
// transpose, a product whose batch stands outermost again, or a reduce, or are
// transposed there. What is saved must be more bytes than what is added.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_MEETING_TRANSPOSES_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_MEETING_TRANSPOSES_H_

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

// `is_free`: an array that is there in any order of dimensions (a broadcast).
absl::flat_hash_set<const Instruction*> MeetingTransposes(
    Computation* c, absl::FunctionRef<bool(const Instruction&)> is_free);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_MEETING_TRANSPOSES_H_
