// The kernel around the one product of a fusion that no kernel of ours can be:
// what may stand in front of the product and behind it, with the rest outside.
//
// Of row-major arrays (row_major.h). An operand whose work is no prologue
// (fusion_rules.h) is computed outside, and so are reduces of the result, but
// for those that a kernel makes beside it (IsMemberColumnReduce,
// IsColumnReduce), where it is told to; values per row of 16 bits are widened
// first.
//
//   %r = tuple(reduce(add(dot(%w, norm(%x)), %bias)), add(...))
//   ==> %n = norm(%x), %p = fusion(%w, %n, %bias) { add(dot(...)) }, reduce(%p)
#ifndef PTXLA_HLO_BACKEND_PASSES_SCHEDULED_PRODUCT_CORE_H_
#define PTXLA_HLO_BACKEND_PASSES_SCHEDULED_PRODUCT_CORE_H_

#include "absl/status/status.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

// Brings the body to a form in which a core is found: of row-major arrays, in
// the dimensions of the product. `generation` of the chip: tiles of values that
// come to be. True: the product is one of planes whose sum stands outside
// (plane_sums.h).
bool PrepareProductCore(Computation* body, bool reduces, int generation);

// `outside`: bit o of an operand that is computed outside. `reduces`: some are
// inside. `sums`: as prepared; then the product with nothing around it will do.
// Unimplemented: there is no such kernel; the body is half done then.
absl::Status FuseProductCore(Computation* body, int outside, bool reduces,
                             bool sums, int generation);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SCHEDULED_PRODUCT_CORE_H_
