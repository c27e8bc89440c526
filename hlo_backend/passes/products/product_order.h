// Should a product of matrices be computed transposed, by swapping its
// operands?
//
//   %m = f32[512,784] transpose(f32[784,512] %as_it_lies)   // entry, {0,1}
//   %d = f32[512,784] dot(%g, %x)
//   add(%m, %d), a result that lies as %m: yes
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_PRODUCT_ORDER_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_PRODUCT_ORDER_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Whether the elementwise work behind the product meets more arrays of the
// entry that lie the other way than such as do not. False for what is no
// product of two matrices, and for one that is a result of the program as it
// is.
bool IsWantedTransposed(const Instruction& dot);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_PRODUCT_ORDER_H_
