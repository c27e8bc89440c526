// Operands of products whose batch members lie in the rows of tiles
// (analysis/member_rows.h) become planes, by a transpose before the product.
//
// A step of a product that reads them in place holds the 8 members that share
// tiles. Where that does not fit into VMEM, because each brings whole rows or
// values that are computed, planes come by single members.
//
//   dot(%p, %k)   // %k bf16[2,8,512,128]{3,1,2,0}
//   ==> %b = bf16[2,512,8,128]{3,2,1,0} bitcast(%k)
//       %t = bf16[2,8,512,128]{3,2,1,0} transpose(%b), dimensions={0,2,1,3}
//       dot(%p, %t)
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_MEMBER_PLANES_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_MEMBER_PLANES_H_

#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

// Does the dot, or a dot inside of the fusion, read such an operand as it comes
// into the kernel?
bool ReadsMembersInRows(const Instruction& kernel);

// The body of such a kernel: its parameters become planes. Whether there were
// any. `generation` of the chip: tiles of planes (TpuLayout).
bool MakeMemberPlanes(Computation* body, int generation);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_MEMBER_PLANES_H_
