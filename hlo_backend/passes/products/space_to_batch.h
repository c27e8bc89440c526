// Images of small batches, cut into a batch of whole tiles.
//
// The batch is in the rows of tiles: a convolution of one image multiplies one
// row of eight. Its outermost axis is cut into blocks that overlap by what the
// window sees of its neighbours; blocks are batch members.
//
//   x [1,56,56,64], 3x3 pad 1_1x1_1
//   ==> [1,8,7,56,64], each with the last row of the block before it and the
//       first one of the next: [1,8,9,56,64]
//       [9,56,8,64] * w -> [7,56,8,64], pad 0_0x1_1
//       -> [1,8,7,56,64] -> [1,56,56,64]
//
// A block of a dilated image (a transposed convolution) begins at a plane, not
// at the zeros between two: 4x4 pad 2_2 lhs_dilate 2 of 56 rows are 8 blocks of
// 7, 14 outputs each, and a row of each neighbour.
//
// As XLA's SpaceToBatchConverter, which the TPU compiler runs. Not for groups,
// and not where blocks would be one output high or mostly padding. Gradients of
// weights, whose batch is contracted, have ways of their own
// (gradient_batches.h). From how small a batch on, and up to which: the chip's
// policy `space_to_batch_rows`; 0: never.
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
