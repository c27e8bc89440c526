// Gradients of weights whose image or result's gradient is in blocks already
// (blocked_images.h): blocks of both are contracted as they are.
//
//   x [1,56,56,64] and dy [1,56,56,64], 8 blocks of 8, 3x3 weights
//   ==> x [56,10,8,64], dy [56,8,8,64], pad 1_1x0_0
//
// Zeros behind the end of dy meet columns of x: an infinity there makes NaN of
// taps that do not meet it otherwise.
//
//   Instruction* dw = BlockedGradient(convolution, &images);
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_BLOCKED_GRADIENT_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_BLOCKED_GRADIENT_H_

#include "hlo_backend/passes/products/blocked_images.h"

namespace ptxla::hlo {

// The value that stands for `convolution`; null: it is no gradient of weights,
// neither is in blocks, or their blocks do not meet.
Instruction* BlockedGradient(Instruction* convolution, BlockedImages* images);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_BLOCKED_GRADIENT_H_
