// An image whose blocks of positions become features: what space-to-depth makes
// of a convolution's input, and how wide it is; and an image made so.
//
//   FoldedImage image(&builder, axes, /*channels=*/3, /*batch=*/8);
//   x' = image.Fold(x, {batch, feature, rows, columns});
//     // bf16[112,112,8,16] of bf16[8,3,224,224]
//   image.Unfold(x', 3);  // and back
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_FOLDED_IMAGE_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_FOLDED_IMAGE_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {

// One spatial dimension: `step` positions become one.
struct FoldedAxis {
  int64_t step = 1;
  int64_t in = 1, taps = 1;            // as they were
  int64_t lead = 0;                    // taps of zeros in front of the first
  int64_t blocks = 1, tap_blocks = 1;  // as they become
  int64_t padding = 0;                 // low, in blocks
};

// Of an image with two axes, rows and columns.
class FoldedImage {
 public:
  FoldedImage(Builder* b, std::vector<FoldedAxis> axes, int64_t channels,
              int64_t batch);

  // Features of a column of a block, [step, channels] or, if channels are
  // outside, [channels, step]; with zeros in whole tiles of rows. Channels of
  // zeros are among the former where that alone makes them whole.
  int64_t channels() const { return channels_; }
  int64_t features() const { return axes_[0].step * channels_; }
  int64_t padded() const { return padded_; }
  bool channels_outside() const { return channels_outside_; }

  // [blocks, blocks, batch, inner step * padded()] of an array whose batch,
  // features, rows and columns are the dimensions `dims`.
  Instruction* Fold(Instruction* x, const DimVector& dims) const;

  // [rows, columns, inner step * padded(), others] of blocks of a kernel's
  // taps; its rows, columns, image features and other features are the
  // dimensions `dims`.
  Instruction* FoldKernel(Instruction* w, const DimVector& dims) const;
  // The image [batch, `channels`, rows, columns] of what Fold makes.
  Instruction* Unfold(Instruction* x, int64_t channels) const;

  // With zeros around, so that each axis, or its taps, is whole blocks.
  Instruction* PadToBlocks(Instruction* value, const DimVector& spatial,
                           bool taps) const;
  // With zeros behind.
  Instruction* PadDim(Instruction* value, int64_t dim, int64_t size) const;

 private:
  Instruction* BatchAsLanes(Instruction* x, const DimVector& dims) const;
  Instruction* ColumnsAsLanes(Instruction* x, const DimVector& dims) const;
  Instruction* Ordered(Instruction* value, const DimVector& order) const;
  Instruction* Cut(Instruction* value, const DimVector& limits) const;
  Instruction* PadWithZeros(Instruction* value,
                            const std::vector<PaddingDim>& padding) const;

  Builder& b_;
  const std::vector<FoldedAxis> axes_;
  const int64_t batch_, across_, padded_, channels_;
  const bool columns_as_lanes_, channels_outside_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_FOLDED_IMAGE_H_
