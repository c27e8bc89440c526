// Images of small batches, cut into a batch of whole tiles.
//
// The batch is in the rows of tiles: a convolution of one image multiplies one
// row of eight. Its last axis is cut into eight blocks, which are batch members
// and see what a window does of their neighbours.
//
//   x [1,56,56,64], 3x3 pad 1_1x1_1
//   ==> [56,7,8,64], each block with the last column of the one before and the
//       first of the next one: [56,9,8,64]
//       * w -> [56,7,8,64], pad 1_1x0_0
//
// What follows stays in these blocks (blocked_images.h): bias and activation,
// residuals, poolings, normalisations, convolutions of one tap, and those that
// step by a whole part of a block; gradients of weights contract them
// (blocked_gradient.h). So a network is cut once, and again where its blocks
// are no whole number of steps: 112 columns pool to eight blocks of 7, and the
// convolution that steps by 2 has eight of 8, the last one of nothing.
//
// A block of a dilated image (a transposed convolution) begins at a column, not
// at the zeros between two: 4x4 pad 2_2 lhs_dilate 2 of 56 columns are 8 blocks
// of 7, 14 outputs each, and a column of each neighbour.
//
// As XLA's SpaceToBatchConverter, which the TPU compiler runs: libtpu 0.0.42.1
// on v5e cuts batches of 1 to 7 in eight, and axes of 16 with their padding and
// more (12 columns of a 3x3 not, 14 are) of which a window sees no more than an
// eighth beyond its step (of 17 columns 1x7 not). Of groups depthwise ones
// alone. libtpu's blocks have room for the padding, too (eight of 29 of 224
// columns), and zeros there in the epilogue of each convolution, which no
// kernel here has. Gradients of weights, whose batch is contracted, have ways
// of their own (gradient_batches.h, gradient_positions.h). Below which batch,
// and in how many blocks: the chip's policy `space_to_batch_rows`; 0: never.
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SPACE_TO_BATCH_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SPACE_TO_BATCH_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class SpaceToBatchPass : public Pass {
 public:
  absl::string_view name() const override { return "space-to-batch"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SPACE_TO_BATCH_H_
