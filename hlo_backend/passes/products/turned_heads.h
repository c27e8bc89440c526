// Products of an attention whose heads are narrower than the lanes take their
// queries, keys and values with the tokens in the lanes, and make their results
// so: heads of 64 would leave half of the lanes empty, and cutting the lanes of
// a projection into them moves every row, where a transpose of the whole is the
// XLUs' work alone.
//
//   %q = bf16[16,197,12,64] reshape(bf16[16,197,768] %x)
//   dot(%q, ...), lhs_batch_dims={0,2}, lhs_contracting_dims={3}
// ==>
//   %t = bf16[16,768,197] transpose(%x), dimensions={0,2,1}
//   %q = bf16[16,12,64,197] reshape(%t)                  // moves nothing
//   dot(%q, ...), lhs_batch_dims={0,1}, lhs_contracting_dims={2}
//
//   %o = bf16[16,12,197,64] dot(%p, %v)
//   %r = bf16[16,197,768] reshape(transpose(%o), dimensions={0,2,1,3})
//   dot(%r, %w), lhs_contracting_dims={2}
// ==>
//   %o = bf16[16,12,64,197] dot(%v, %p)
//   dot(bf16[16,768,197] reshape(%o), %w), lhs_contracting_dims={1}
//
// What is done to the heads in between is done in that order too
// (turned_value.h). Results that a product makes so whatever their depth go to
// a projection as they lie.
//
// The TPU compiler has queries, keys, values and results of such heads in that
// order, on all chips, for 77 tokens as for 256.
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_TURNED_HEADS_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_TURNED_HEADS_H_

#include "absl/types/span.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

// Of `dots`, which are products without layouts of `c` that read scores or make
// them. Those of heads whose tiles are no fuller so stay, and the dead ones.
// What is no longer read is left behind.
void TurnHeads(Computation* c, absl::Span<Instruction* const> dots,
               int generation);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_TURNED_HEADS_H_
