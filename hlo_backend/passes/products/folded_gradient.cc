#include "hlo_backend/passes/products/folded_gradient.h"

#include <vector>

#include "base/units.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/products/folded_image.h"
#include "hlo_backend/passes/products/size_of.h"

namespace ptxla::hlo {
namespace {

// Dense, of two axes, one of which is dilated.
bool IsDilated(const ConvAttrs& a) {
  if (a.feature_group_count != 1 || a.batch_group_count != 1 ||
      !a.sparsity.empty() || a.window.dims.size() != 2) {
    return false;
  }
  bool dilates = false;
  for (const WindowDim& w : a.window.dims) {
    if (w.stride != 1 || w.window_dilation != 1) return false;
    dilates |= w.base_dilation > 1;
  }
  return dilates;
}

// The kernel with its last tap first along every axis of the window.
Instruction* Mirrored(Builder* b, Instruction* w, const ConvAttrs& a) {
  DimVector reversed;
  for (size_t s = 0; s < a.window.dims.size(); ++s) {
    if (!a.window.dims[s].reversal)
      reversed.push_back(a.dims.kernel_spatial[s]);
  }
  if (w->opcode() == Opcode::kReverse &&
      w->dimensions() == absl::MakeConstSpan(reversed)) {
    return w->operand(0);
  }
  return reversed.empty() ? w : b->Reverse(w, reversed);
}

// Result s * u + r meets through tap t the input u + (r + t - padding) / s, if
// that is whole: through block v of s taps, u + v - padding / s.
FoldedAxis AxisOf(const WindowDim& w, int64_t results) {
  FoldedAxis a;
  a.step = w.base_dilation;
  a.in = results;
  a.taps = w.size;
  a.blocks = CeilOfRatio(results, a.step);
  const int64_t beyond = (w.padding_low % a.step + a.step) % a.step;
  const int64_t behind = a.step - 1 - beyond;
  a.tap_blocks = CeilOfRatio(a.taps + behind, a.step);
  a.lead = a.tap_blocks * a.step - a.taps - behind;  // of the mirrored kernel
  a.padding = (w.padding_low - beyond) / a.step;
  return a;
}

}  // namespace

Instruction* GradientOfFoldedImage(Instruction* convolution,
                                   int64_t most_features) {
  const auto& old = convolution->attrs<ConvAttrs>();
  const ConvDims& d = old.dims;
  const int64_t channels = SizeOf(*convolution, d.output_feature);
  const int64_t batch = SizeOf(*convolution, d.output_batch);
  if (!IsDilated(old) || channels > most_features) {
    return nullptr;
  }
  Builder b(convolution->parent());
  b.set_metadata(convolution->shared_metadata());
  std::vector<FoldedAxis> axes;
  for (int s = 0; s < 2; ++s) {
    axes.push_back(
        AxisOf(old.window.dims[s], SizeOf(*convolution, d.output_spatial[s])));
  }
  const FoldedImage image(&b, axes, channels, batch);
  Instruction* kernel =
      image.FoldKernel(Mirrored(&b, convolution->operand(1), old),
                       {d.kernel_spatial[0], d.kernel_spatial[1],
                        d.kernel_output_feature, d.kernel_input_feature});
  ConvAttrs attrs = old;
  attrs.dims.kernel_spatial = attrs.dims.output_spatial = {0, 1};
  attrs.dims.kernel_output_feature = attrs.dims.output_batch = 2;
  attrs.dims.kernel_input_feature = attrs.dims.output_feature = 3;
  for (int s = 0; s < 2; ++s) {
    const FoldedAxis& a = axes[s];
    WindowDim& w = attrs.window.dims[s];
    w.size = a.tap_blocks;
    w.base_dilation = 1;
    w.reversal = true;
    w.padding_low = a.padding;
    w.padding_high = a.blocks - 1 + a.tap_blocks - a.padding -
                     SizeOf(*convolution->operand(0), d.input_spatial[s]);
  }
  Instruction* blocks = convolution->parent()->Add(
      Opcode::kConvolution,
      Shape::Array(convolution->shape().type(),
                   {axes[0].blocks, axes[1].blocks, batch, SizeOf(*kernel, 2)}),
      {convolution->operand(0), kernel}, attrs, {}, convolution->name());
  blocks->set_metadata(convolution->shared_metadata());
  DimVector back(4, 0);
  back[d.output_batch] = 0;
  back[d.output_feature] = 1;
  back[d.output_spatial[0]] = 2;
  back[d.output_spatial[1]] = 3;
  Instruction* result = image.Unfold(blocks, channels);
  return IsIdentityMapping(back) ? result : b.Transpose(result, back);
}

}  // namespace ptxla::hlo
