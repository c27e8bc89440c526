#include "hlo_backend/passes/products/gradient_batches.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/units.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/products/convolution_canonicalizer.h"
#include "hlo_backend/passes/products/overlapping_blocks.h"
#include "hlo_backend/passes/products/size_of.h"

namespace ptxla::hlo {
namespace {

class Cutter {
 public:
  explicit Cutter(Instruction* convolution)
      : convolution_(convolution),
        attrs_(convolution->attrs<ConvAttrs>()),
        b_(convolution->parent()) {
    b_.set_metadata(convolution->shared_metadata());
  }

  Instruction* Run() {
    if (!Fits()) return nullptr;
    const ConvDims& d = attrs_.dims;
    const int spatial = static_cast<int>(attrs_.window.dims.size());
    // The axis that is cut comes first, the others in their order.
    DimVector axes = {axis_};
    for (int s = 0; s < spatial; ++s) {
      if (s != axis_) axes.push_back(s);
    }
    ConvAttrs attrs = attrs_;
    DimVector result, back(spatial + 2, 0);
    for (int s = 0; s < spatial; ++s) {
      attrs.window.dims[s] = attrs_.window.dims[axes[s]];
      attrs.dims.input_spatial[s] = attrs.dims.kernel_spatial[s] =
          attrs.dims.output_spatial[s] = s;
      back[d.output_spatial[axes[s]]] = s;
      result.push_back(SizeOf(*convolution_, d.output_spatial[axes[s]]));
    }
    WindowDim& w = attrs.window.dims[0];
    w.size = planes_;
    w.padding_low = w.padding_high = 0;
    back[d.output_batch] = spatial;
    back[d.output_feature] = spatial + 1;
    result.push_back(SizeOf(*convolution_, d.output_batch));
    result.push_back(SizeOf(*convolution_, d.output_feature));
    attrs.dims.input_batch = spatial + 1;
    attrs.dims.input_feature = attrs.dims.kernel_input_feature = spatial;
    attrs.dims.output_batch = spatial;
    attrs.dims.output_feature = attrs.dims.kernel_output_feature = spatial + 1;
    Instruction* x = InBlocks(0, axes, d.input_feature, d.input_spatial,
                              d.input_batch, image_);
    Instruction* dy =
        InBlocks(1, axes, d.kernel_input_feature, d.kernel_spatial,
                 d.kernel_output_feature, {image_.blocks, planes_});
    Instruction* conv = b_.computation()->Add(
        Opcode::kConvolution,
        Shape::Array(convolution_->shape().type(), result), {x, dy},
        std::move(attrs), {}, convolution_->name());
    conv->set_metadata(convolution_->shared_metadata());
    return IsIdentityMapping(back) ? conv : b_.Transpose(conv, back);
  }

 private:
  bool Fits() {
    const ConvDims& d = attrs_.dims;
    if (attrs_.feature_group_count != 1 || !attrs_.sparsity.empty() ||
        attrs_.window.dims.empty() ||
        convolution_->shape().type() == PrimitiveType::kS32 ||
        !HasMoreTapsThanResults(attrs_, convolution_->shape().dims())) {
      return false;
    }
    for (const WindowDim& w : attrs_.window.dims) {
      if (w.stride != 1 || w.base_dilation != 1 || w.reversal) return false;
    }
    const int64_t batch = SizeOf(*convolution_->operand(0), d.input_feature);
    if (batch == 0 || batch >= kTileRows) return false;
    const auto& dims = attrs_.window.dims;
    axis_ = static_cast<int>(
        std::max_element(dims.begin(), dims.end(),
                         [](const WindowDim& a, const WindowDim& b) {
                           return a.size < b.size;
                         }) -
        dims.begin());
    const WindowDim& w = dims[axis_];
    const int64_t have =
        SizeOf(*convolution_->operand(0), d.input_spatial[axis_]);
    const int64_t results = SizeOf(*convolution_, d.output_spatial[axis_]);
    image_.blocks = kTileRows / std::gcd(batch, kTileRows);
    planes_ = CeilOfRatio(
        std::max(w.size, CeilOfRatio(have, w.window_dilation)), image_.blocks);
    image_.advance = planes_ * w.window_dilation;
    image_.low = w.padding_low;
    image_.high = results - w.window_dilation - w.padding_low;
    return image_.low >= 0 && image_.low <= image_.advance &&
           image_.high >= 0 && image_.high <= image_.advance;
  }

  // [planes, other axes, batch * blocks, features] of an operand.
  Instruction* InBlocks(int operand, const DimVector& axes, int64_t batch,
                        const DimVector& spatial, int64_t features,
                        const BlockCut& cut) {
    Instruction* x = convolution_->operand(operand);
    if (x->shape().type() == PrimitiveType::kF32 &&
        attrs_.precision.operand(operand) == Precision::kDefault) {
      x = b_.Convert(x, PrimitiveType::kBf16);  // as the arrays take it
    }
    DimVector order = {batch}, inside;
    for (const int64_t s : axes) {
      order.push_back(spatial[s]);
      inside.push_back(static_cast<int64_t>(inside.size()) + 1);
    }
    order.push_back(features);
    inside.push_back(0);
    inside.push_back(static_cast<int64_t>(inside.size()));
    if (!IsIdentityMapping(order)) x = b_.Transpose(x, order);
    return b_.Transpose(OverlappingBlocks(&b_, x, cut), inside);
  }

  Instruction* convolution_;
  const ConvAttrs attrs_;
  Builder b_;
  int axis_ = 0;        // that is cut
  int64_t planes_ = 1;  // of a block of the result's gradient
  BlockCut image_;
};

}  // namespace

Instruction* GradientInBlocks(Instruction* convolution) {
  return Cutter(convolution).Run();
}

}  // namespace ptxla::hlo
