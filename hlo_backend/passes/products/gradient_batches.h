// Gradients of weights whose batch is less than a tile's rows.
//
// Such a gradient contracts the batch where it lies, in the rows of tiles: one
// image fills one row of eight. What it contracts besides, the positions of the
// result's gradient, can be batch members as well: the longest axis is cut into
// as many blocks as make whole rows, and those of the image overlap by what the
// taps of the weights see of their neighbours.
//
//   x [1,128,128,64], dy [1,128,128,64], 3x3 weights, pad 1_1x1_1
//   ==> x [18,128,8,64], dy [16,128,8,64], pad 0_0x1_1
//
//   Instruction* dw = GradientInBlocks(convolution);
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_GRADIENT_BATCHES_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_GRADIENT_BATCHES_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// The value that stands for `convolution`; null: it is none, fills a tile's
// rows, or its blocks would be mostly overlap.
Instruction* GradientInBlocks(Instruction* convolution);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_GRADIENT_BATCHES_H_
