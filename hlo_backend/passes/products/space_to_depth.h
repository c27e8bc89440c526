// Images of few features, read in steps: the step goes into the features.
//
// A convolution that strides by s meets every s-th position through one tap. A
// block of s x s positions as one position of s * s * C features has the same
// sums, with s x s times fewer taps:
//
//   x [224,224,n,3], 7x7 stride 2 pad 3_3
//   ==> x' [112,112,n,16], 4x4 pad 2_1, the kernel with zeros in its first
//       row and column
//
// Planes of 3 features fill 3 of 128 lanes, in memory too; those of 16 (4 of
// them zeros, so that each column is whole rows of a tile) are a quarter of the
// bytes, and a tap takes as many lanes of a K tile as four. A patch embedding
// (size and stride 16) becomes one tap: a product. The gradient of such weights
// (its window dilated by s) is the same, and the gradient of such an image (its
// input dilated by s) makes blocks that are taken apart (folded_gradient.h).
//
// Only for images that are moved before their first convolution anyway: what
// comes from a parameter through elementwise work. The batch is in the lanes
// while blocks are folded, and is turned once, at the end. Where the columns
// fill more of the lanes than the batch does, they are lanes until rows of
// blocks are features. One image stays as it is (space_to_batch.h) unless its
// patches lie side by side.
// How few features is the chip's policy `space_to_depth_features`.
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SPACE_TO_DEPTH_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SPACE_TO_DEPTH_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class SpaceToDepthPass : public Pass {
 public:
  absl::string_view name() const override { return "space-to-depth"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SPACE_TO_DEPTH_H_
