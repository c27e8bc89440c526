#include "hlo_backend/passes/products/folded_image.h"

#include <utility>

#include "base/units.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/dimension_utils.h"

namespace ptxla::hlo {
namespace {

// Of two sizes, the one that leaves fewer of the lanes empty.
bool FillsMoreLanes(int64_t size, int64_t than) {
  return size * RoundUpTo(than, kLanes) > than * RoundUpTo(size, kLanes);
}

}  // namespace

FoldedImage::FoldedImage(Builder* b, std::vector<FoldedAxis> axes,
                         int64_t channels, int64_t batch)
    : b_(*b),
      axes_(std::move(axes)),
      batch_(batch),
      across_(axes_[1].blocks * axes_[1].step),
      padded_(RoundUpTo<int64_t>(axes_[0].step * channels, kTileRows)),
      channels_(padded_ % axes_[0].step == 0 ? padded_ / axes_[0].step
                                             : channels),
      columns_as_lanes_(FillsMoreLanes(across_, batch)),
      channels_outside_(columns_as_lanes_ && axes_[0].step % kTileRows == 0) {}

Instruction* FoldedImage::Fold(Instruction* x, const DimVector& dims) const {
  x = columns_as_lanes_ ? ColumnsAsLanes(x, dims) : BatchAsLanes(x, dims);
  const FoldedAxis &outer = axes_[0], &inner = axes_[1];
  x = b_.Reshape(x, {outer.blocks, inner.blocks, inner.step * padded_, batch_});
  return b_.Transpose(x, {0, 1, 3, 2});
}

// [blocks, columns, features, batch]: rows of blocks are features where they
// lie, columns are brought to them as rows, and one exchange of rows and lanes
// comes last.
Instruction* FoldedImage::BatchAsLanes(Instruction* x,
                                       const DimVector& dims) const {
  x = Ordered(x, {dims[2], dims[1], dims[3], dims[0]});
  x = PadDim(PadToBlocks(x, {0, 2}, false), 1, channels_);
  x = b_.Reshape(x, {axes_[0].blocks, features(), across_, batch_});
  return b_.Transpose(PadDim(x, 1, padded_), {0, 2, 1, 3});
}

// The same. Where the batch would leave more lanes empty than the columns do,
// rows become features while columns are lanes: no array before the result is
// larger than the image. Steps of whole tiles stay together.
Instruction* FoldedImage::ColumnsAsLanes(Instruction* x,
                                         const DimVector& dims) const {
  const FoldedAxis& outer = axes_[0];
  x = PadDim(PadToBlocks(Ordered(x, dims), {2, 3}, false), 1, channels_);
  x = b_.Reshape(x, {batch_, channels_, outer.blocks, outer.step, across_});
  if (channels_outside_) {
    return b_.Reshape(b_.Transpose(x, {2, 4, 1, 3, 0}),
                      {outer.blocks, across_, padded_, batch_});
  }
  x = b_.Reshape(b_.Transpose(x, {0, 2, 3, 1, 4}),
                 {batch_, outer.blocks, features(), across_});
  return b_.Transpose(PadDim(x, 2, padded_), {1, 3, 2, 0});
}

Instruction* FoldedImage::FoldKernel(Instruction* w,
                                     const DimVector& dims) const {
  const FoldedAxis &outer = axes_[0], &inner = axes_[1];
  w = PadDim(PadToBlocks(w, {dims[0], dims[1]}, true), dims[2], channels_);
  if (!IsIdentityMapping(dims)) w = b_.Transpose(w, dims);
  const int64_t others = w->shape().dim(3);
  w = b_.Reshape(w, {outer.tap_blocks, outer.step, inner.tap_blocks, inner.step,
                     channels_, others});
  w = b_.Transpose(w, channels_outside_ ? DimVector{0, 2, 3, 4, 1, 5}
                                        : DimVector{0, 2, 3, 1, 4, 5});
  w = b_.Reshape(
      w, {outer.tap_blocks, inner.tap_blocks, inner.step, features(), others});
  return b_.Reshape(PadDim(w, 3, padded_), {outer.tap_blocks, inner.tap_blocks,
                                            inner.step * padded_, others});
}

// The steps of Fold, backwards.
Instruction* FoldedImage::Unfold(Instruction* x, int64_t channels) const {
  const FoldedAxis &outer = axes_[0], &inner = axes_[1];
  const int64_t rows = outer.blocks * outer.step;
  x = b_.Reshape(b_.Transpose(x, {0, 1, 3, 2}),
                 {outer.blocks, across_, padded_, batch_});
  if (!columns_as_lanes_) {
    x = Cut(b_.Transpose(x, {0, 2, 1, 3}),
            {outer.blocks, features(), across_, batch_});
    x = Cut(b_.Reshape(x, {rows, channels_, across_, batch_}),
            {outer.in, channels, inner.in, batch_});
    return b_.Transpose(x, {3, 1, 0, 2});
  }
  if (channels_outside_) {
    x = b_.Reshape(x, {outer.blocks, across_, channels_, outer.step, batch_});
    x = b_.Transpose(x, {4, 2, 0, 3, 1});
  } else {
    x = Cut(b_.Transpose(x, {3, 0, 2, 1}),
            {batch_, outer.blocks, features(), across_});
    x = b_.Reshape(x, {batch_, outer.blocks, outer.step, channels_, across_});
    x = b_.Transpose(x, {0, 3, 1, 2, 4});
  }
  return Cut(b_.Reshape(x, {batch_, channels_, rows, across_}),
             {batch_, channels, outer.in, inner.in});
}

Instruction* FoldedImage::Cut(Instruction* value,
                              const DimVector& limits) const {
  if (value->shape().dims() == absl::MakeConstSpan(limits)) return value;
  return b_.Slice(value, DimVector(limits.size(), 0), limits);
}

// The transpose is moved before conversions: of a parameter it is a layout.
Instruction* FoldedImage::Ordered(Instruction* value,
                                  const DimVector& order) const {
  if (IsIdentityMapping(order)) return value;
  if (value->opcode() != Opcode::kConvert) return b_.Transpose(value, order);
  return b_.Convert(Ordered(value->operand(0), order), value->shape().type());
}

Instruction* FoldedImage::PadToBlocks(Instruction* value,
                                      const DimVector& spatial,
                                      bool taps) const {
  std::vector<PaddingDim> padding(value->shape().rank());
  for (size_t s = 0; s < axes_.size(); ++s) {
    const FoldedAxis& a = axes_[s];
    PaddingDim& p = padding[spatial[s]];
    p.low = taps ? a.lead : 0;
    p.high = (taps ? a.tap_blocks : a.blocks) * a.step -
             (taps ? a.taps : a.in) - p.low;
  }
  return PadWithZeros(value, padding);
}

Instruction* FoldedImage::PadDim(Instruction* value, int64_t dim,
                                 int64_t size) const {
  std::vector<PaddingDim> padding(value->shape().rank());
  padding[dim].high = size - value->shape().dim(static_cast<int>(dim));
  return PadWithZeros(value, padding);
}

Instruction* FoldedImage::PadWithZeros(
    Instruction* value, const std::vector<PaddingDim>& padding) const {
  for (const PaddingDim& p : padding) {
    if (p.low == 0 && p.high == 0) continue;
    return b_.Pad(value, b_.Zero(value->shape().type()), padding);
  }
  return value;
}

}  // namespace ptxla::hlo
