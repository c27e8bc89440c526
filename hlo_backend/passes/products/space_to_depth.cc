#include "hlo_backend/passes/products/space_to_depth.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/units.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/products/folded_gradient.h"
#include "hlo_backend/passes/products/folded_image.h"
#include "hlo_backend/passes/products/size_of.h"

namespace ptxla::hlo {
namespace {

// Elementwise instructions between a parameter and its first convolution.
constexpr int kMostSteps = 16;

class Folder {
 public:
  explicit Folder(Instruction* convolution)
      : convolution_(convolution),
        attrs_(convolution->attrs<ConvAttrs>()),
        b_(convolution->parent()),
        x_(convolution->operand(0)),
        w_(convolution->operand(1)) {
    b_.set_metadata(convolution->shared_metadata());
  }

  // The value that stands for the convolution, or null.
  Instruction* Run(int64_t most_features) {
    const ConvDims& d = attrs_.dims;
    if (attrs_.feature_group_count != 1 || attrs_.batch_group_count != 1 ||
        !attrs_.sparsity.empty() || Spatial() != 2 || !FindAxes()) {
      return nullptr;
    }
    feature_ = gradient_ ? d.input_batch : d.input_feature;
    rows_ = gradient_ ? d.input_feature : d.input_batch;
    channels_ = SizeOf(*x_, feature_);
    if (channels_ > most_features || !IsImage(x_) ||
        (SizeOf(*x_, rows_) == 1 && !IsOneTap())) {
      return nullptr;
    }
    if (x_->shape().type() == PrimitiveType::kF32 &&
        attrs_.precision.operand(0) == Precision::kDefault) {
      x_ = b_.Convert(x_, PrimitiveType::kBf16);  // as the arrays take it
    }
    image_.emplace(&b_, axes_, channels_, SizeOf(*x_, rows_));
    return gradient_ ? Gradient() : Forward();
  }

 private:
  int64_t Spatial() const {
    return static_cast<int64_t>(attrs_.window.dims.size());
  }

  // Features of a block, as the new convolution has them.
  int64_t Block() const { return axes_[1].step * image_->padded(); }

  // A forward pass that strides, or the gradient of its weights: there the taps
  // are positions of the result.
  bool FindAxes() {
    const ConvDims& d = attrs_.dims;
    bool strides = false, dilates = false;
    for (const WindowDim& w : attrs_.window.dims) {
      if (w.reversal || w.base_dilation != 1) return false;
      strides |= w.stride > 1;
      dilates |= w.window_dilation > 1;
    }
    if (strides == dilates) return false;
    gradient_ = dilates;
    int64_t taps = 1, results = 1;
    for (int64_t s = 0; s < Spatial(); ++s) {
      const WindowDim& w = attrs_.window.dims[s];
      FoldedAxis a;
      a.step = gradient_ ? w.window_dilation : w.stride;
      a.in = SizeOf(*x_, d.input_spatial[s]);
      a.taps = gradient_ ? SizeOf(*convolution_, d.output_spatial[s]) : w.size;
      a.lead = (a.step - (w.padding_low % a.step + a.step) % a.step) % a.step;
      a.blocks = CeilOfRatio(a.in, a.step);
      a.tap_blocks = CeilOfRatio(a.taps + a.lead, a.step);
      a.padding = (w.padding_low + a.lead) / a.step;
      axes_.push_back(a);
      taps *= w.size;
      results *= a.tap_blocks;
    }
    return !gradient_ || taps > results;
  }

  // Patches side by side: a product, whatever the batch.
  bool IsOneTap() const {
    return std::all_of(axes_.begin(), axes_.end(),
                       [](const FoldedAxis& a) { return a.tap_blocks == 1; });
  }

  static bool IsImage(const Instruction* x) {
    for (int n = 0; n < kMostSteps; ++n) {
      if (x->opcode() == Opcode::kParameter) return true;
      const bool moves = x->opcode() == Opcode::kTranspose ||
                         x->opcode() == Opcode::kPad ||
                         x->opcode() == Opcode::kReshape;
      if (!moves && !x->IsElementwise()) return false;
      const Instruction* next = nullptr;
      for (const Instruction* operand : x->operands()) {
        if (operand->opcode() == Opcode::kBroadcast ||
            operand->opcode() == Opcode::kConstant) {
          continue;
        }
        if (next != nullptr && next != operand)
          return x->opcode() == Opcode::kPad;
        if (next == nullptr) next = operand;
      }
      if (next == nullptr) return false;
      x = next;
    }
    return false;
  }

  Instruction* FoldedInput() {
    const DimVector& spatial = attrs_.dims.input_spatial;
    return image_->Fold(x_, {rows_, feature_, spatial[0], spatial[1]});
  }

  // [tap blocks, tap blocks, features, output features].
  Instruction* FoldedKernel() {
    const ConvDims& d = attrs_.dims;
    return image_->FoldKernel(
        w_, {d.kernel_spatial[0], d.kernel_spatial[1], d.kernel_input_feature,
             d.kernel_output_feature});
  }

  // Dimension numbers of arrays whose planes are outside.
  ConvDims PlanesOutside() const {
    ConvDims dims;
    for (int64_t s = 0; s < Spatial(); ++s) {
      dims.input_spatial.push_back(s);
      dims.kernel_spatial.push_back(s);
      dims.output_spatial.push_back(s);
    }
    dims.input_batch = dims.output_batch = dims.kernel_input_feature =
        Spatial();
    dims.input_feature = dims.output_feature = dims.kernel_output_feature =
        Spatial() + 1;
    return dims;
  }

  Instruction* Convolve(Instruction* x, Instruction* w, ConvDims dims,
                        const DimVector& result) {
    ConvAttrs attrs = attrs_;
    attrs.dims = std::move(dims);
    for (size_t s = 0; s < axes_.size(); ++s) {
      const FoldedAxis& a = axes_[s];
      WindowDim& window = attrs.window.dims[s];
      const int64_t out = result[attrs.dims.output_spatial[s]];
      window.stride = window.window_dilation = 1;
      if (!gradient_) window.size = a.tap_blocks;
      window.padding_low = a.padding;
      window.padding_high = out - 1 + window.size - a.blocks - a.padding;
    }
    Instruction* conv = b_.computation()->Add(
        Opcode::kConvolution,
        Shape::Array(convolution_->shape().type(), result), {x, w}, attrs, {},
        convolution_->name());
    conv->set_metadata(convolution_->shared_metadata());
    return conv;
  }

  Instruction* Forward() {
    const ConvDims& d = attrs_.dims;
    DimVector old = d.output_spatial, result, back(Spatial() + 2, 0);
    old.push_back(d.output_batch);
    old.push_back(d.output_feature);
    for (size_t n = 0; n < old.size(); ++n) {
      result.push_back(SizeOf(*convolution_, old[n]));
      back[old[n]] = static_cast<int64_t>(n);
    }
    Instruction* conv =
        Convolve(FoldedInput(), FoldedKernel(), PlanesOutside(), result);
    return IsIdentityMapping(back) ? conv : b_.Transpose(conv, back);
  }

  // The result has its taps in blocks, and the steps with the image's features.
  Instruction* Gradient() {
    const ConvDims& d = attrs_.dims;
    ConvDims dims = PlanesOutside();
    std::swap(dims.input_batch, dims.input_feature);
    std::swap(dims.output_batch, dims.output_feature);
    dims.kernel_spatial = d.kernel_spatial;
    dims.kernel_input_feature = d.kernel_input_feature;
    dims.kernel_output_feature = d.kernel_output_feature;
    const FoldedAxis &outer = axes_[0], &inner = axes_[1];
    const int64_t features = SizeOf(*convolution_, d.output_feature);
    Instruction* conv =
        Convolve(FoldedInput(), w_, std::move(dims),
                 {outer.tap_blocks, inner.tap_blocks, features, Block()});
    Instruction* taps =
        b_.Reshape(conv, {outer.tap_blocks, inner.tap_blocks, features,
                          inner.step, image_->padded()});
    const int64_t channels = image_->channels();
    if (image_->padded() != image_->features()) {
      DimVector limits = taps->shape().dims();
      limits[4] = image_->features();
      taps = b_.Slice(taps, DimVector(5, 0), limits);
    }
    const bool outside = image_->channels_outside();
    taps = b_.Reshape(taps, {outer.tap_blocks, inner.tap_blocks, features,
                             inner.step, outside ? channels : outer.step,
                             outside ? outer.step : channels});
    // [taps, taps, image features, features], then in the old order.
    taps = b_.Transpose(taps, outside ? DimVector{0, 5, 1, 3, 4, 2}
                                      : DimVector{0, 4, 1, 3, 5, 2});
    taps =
        b_.Reshape(taps, {outer.tap_blocks * outer.step,
                          inner.tap_blocks * inner.step, channels, features});
    taps = b_.Slice(taps, {outer.lead, inner.lead, 0, 0},
                    {outer.lead + outer.taps, inner.lead + inner.taps,
                     channels_, features});
    DimVector back(4, 0);
    const int64_t old[4] = {d.output_spatial[0], d.output_spatial[1],
                            d.output_batch, d.output_feature};
    for (int n = 0; n < 4; ++n) back[old[n]] = n;
    return IsIdentityMapping(back) ? taps : b_.Transpose(taps, back);
  }

  Instruction* convolution_;
  ConvAttrs attrs_;
  Builder b_;
  Instruction *x_, *w_;
  std::vector<FoldedAxis> axes_;
  std::optional<FoldedImage> image_;
  bool gradient_ = false;
  int64_t feature_ = 0, rows_ = 0;  // dimensions of the input
  int64_t channels_ = 0;            // features of the image
};

}  // namespace

absl::StatusOr<bool> SpaceToDepthPass::Run(Module* module,
                                           const PassContext& context) {
  if (module->config().is_scheduled || context.chip == nullptr) return false;
  const auto most = static_cast<int64_t>(
      context.chip->Policy("space_to_depth_features").value_or(0));
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    bool here = false;
    for (Instruction* i : c->PostOrder()) {
      if (i->opcode() != Opcode::kConvolution) continue;
      Instruction* value = Folder(i).Run(most);
      if (value == nullptr) value = GradientOfFoldedImage(i, most);
      if (value == nullptr) continue;
      c->Replace(i, value);
      here = true;
    }
    if (here) c->RemoveDead();
    changed |= here;
  }
  return changed;
}

}  // namespace ptxla::hlo
