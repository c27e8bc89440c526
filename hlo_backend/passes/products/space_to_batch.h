// Images of small batches, cut into a batch of whole tiles.
//
// The batch is in the rows of tiles: a convolution of one image multiplies one
// row of eight. Its last axis is cut into eight blocks that overlap by what the
// window sees of its neighbours; blocks are batch members. Their size counts
// the padding, so that some outputs of the last one are thrown away.
//
//   x [1,56,56,64], 3x3 pad 1_1x1_1: 58 columns with their padding
//   ==> [1,8,8,56,64], each with the first two columns of the next one:
//       [1,8,10,56,64]
//       [56,10,8,64] * w -> [56,8,8,64], pad 1_1x0_0
//       -> [1,64,56,64] -> [1,56,56,64]
//
// A block of a dilated image (a transposed convolution) begins at a column, not
// at the zeros between two: 4x4 pad 2_2 lhs_dilate 2 of 56 columns are 8 blocks
// of 7, 14 outputs each, and a column of each neighbour.
//
// As XLA's SpaceToBatchConverter, which the TPU compiler runs: libtpu 0.0.42.1
// on v5e cuts batches of 1 to 7 in eight, and axes of 16 with their padding and
// more (12 columns of a 3x3 not, 14 are) of which a window sees no more than an
// eighth beyond its step (of 17 columns 1x7 not). Of groups depthwise ones
// alone. Gradients of weights, whose batch is contracted, have ways of their
// own (gradient_batches.h, gradient_positions.h). Below which batch, and in how
// many blocks: the chip's policy `space_to_batch_rows`; 0: never.
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
