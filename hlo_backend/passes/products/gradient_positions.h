// Gradients of weights over so many positions that a step takes part of them,
// and whose number has no divisors (12,799 samples of sound, a prime): zeros
// behind what is contracted make the number one that has.
//
//   x [8,64000,1], dy [8,12799,512], 10 taps, rhs_dilate 5
//   ==> dy [8,12800,512], window size 12800, pad 0_5
//
// An infinity or NaN of x that only zeros meet makes NaN of its tap then (so
// does gradient_batches.h). Steps of a kernel are equal parts of an axis
// (lowering/convolutions): without this each would take one position.
//
//   Instruction* dw = GradientOfEvenPositions(convolution);
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_GRADIENT_POSITIONS_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_GRADIENT_POSITIONS_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// The value that stands for `convolution`; null: it is no such gradient.
Instruction* GradientOfEvenPositions(Instruction* convolution);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_GRADIENT_POSITIONS_H_
