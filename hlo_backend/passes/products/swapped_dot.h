// The same product with its operands in the other order: of matrices, the
// transposed result.
//
//   %d = f32[64,512] dot(%a, %b)  ==>  %s = f32[512,64] dot(%b, %a)
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SWAPPED_DOT_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SWAPPED_DOT_H_

#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

// `dot` must have no sparsity; `shape` is that of the new product.
Instruction* SwappedDot(Instruction* dot, const Shape& shape);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SWAPPED_DOT_H_
