// Convolutions of types that the arrays do not multiply, on types that they do:
// operands of f16 and f8 become bf16 (as the arrays would round them; f32 where
// the program asks for more precision), small integers too, which bf16 holds
// exactly; sums are f32 and converted to the result's type.
//
//   f16 convolution(f16 x, f16 w)  ->  convert(f32 convolution(bf16, bf16))
//
// Sums of integers stay exact: where f32 cannot hold the largest possible one,
// there is no such form.
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_CONVOLUTION_TYPES_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_CONVOLUTION_TYPES_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// The value that stands for the convolution; null: its types are the arrays'
// already, or have no such form.
Instruction* OnArrayTypes(Instruction* convolution);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_CONVOLUTION_TYPES_H_
