// The gradient of an image of few features that a convolution read in steps:
// made as blocks of s x s positions, which are taken apart once.
//
// Between the elements of an input that is dilated by s there is nothing, so of
// s x s neighbouring results each meets other taps of the kernel. As features
// of one result they share the positions that they read:
//
//   dy [112,112,n,64], lhs_dilate 2, 7x7 ==> [224,224,n,3]
//   ==> 4x4 ==> [112,112,n,16] ==> [n,3,224,224]
//
// Three features fill 3 of 128 columns of the arrays, and of the lanes that
// results lie in. A layer that makes images (a transposed convolution) is the
// same.
//
//   Instruction* dx = GradientOfFoldedImage(convolution, most_features);
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_FOLDED_GRADIENT_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_FOLDED_GRADIENT_H_

#include <cstdint>

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// The value that stands for `convolution`; null: it is another one, or has more
// than `most_features`.
Instruction* GradientOfFoldedImage(Instruction* convolution,
                                   int64_t most_features);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_FOLDED_GRADIENT_H_
