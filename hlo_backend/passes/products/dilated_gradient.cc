#include "hlo_backend/passes/products/dilated_gradient.h"

#include <algorithm>
#include <utility>

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/expanders/expand_each.h"
#include "hlo_backend/passes/products/convolution_canonicalizer.h"
#include "hlo_backend/passes/products/size_of.h"

namespace ptxla::hlo {
namespace {

bool IsGradientOfDilated(const Instruction& i) {
  if (i.opcode() != Opcode::kConvolution || HasControlEdges(i) ||
      i.shape().has_layout()) {
    return false;
  }
  const auto& attrs = i.attrs<ConvAttrs>();
  if (attrs.feature_group_count != 1 || attrs.batch_group_count != 1 ||
      !attrs.sparsity.empty() ||
      !HasMoreTapsThanResults(attrs, i.shape().dims())) {
    return false;
  }
  const auto& window = attrs.window.dims;
  return std::any_of(window.begin(), window.end(),
                     [](const WindowDim& w) { return w.base_dilation > 1; }) &&
         std::all_of(window.begin(), window.end(), [](const WindowDim& w) {
           return w.stride == 1 && w.window_dilation == 1 && !w.reversal;
         });
}

Instruction* WithInputAsWindow(Instruction* i) {
  if (!IsGradientOfDilated(*i)) return nullptr;
  const auto& old = i->attrs<ConvAttrs>();
  Instruction *x = i->operand(0), *dy = i->operand(1);
  ConvAttrs attrs = old;
  attrs.dims.input_batch = old.dims.kernel_output_feature;
  attrs.dims.input_feature = old.dims.kernel_input_feature;
  attrs.dims.kernel_input_feature = old.dims.input_feature;
  attrs.dims.kernel_output_feature = old.dims.input_batch;
  std::swap(attrs.dims.input_spatial, attrs.dims.kernel_spatial);
  std::swap(attrs.dims.output_batch, attrs.dims.output_feature);
  auto& precision = attrs.precision.operands;
  if (precision.size() == 2) std::swap(precision[0], precision[1]);
  for (size_t s = 0; s < old.window.dims.size(); ++s) {
    const WindowDim& w = old.window.dims[s];
    const int64_t taps = SizeOf(*i, old.dims.output_spatial[s]);
    const int64_t positions = SizeOf(*x, old.dims.input_spatial[s]);
    // Tap t meets x[q] where dy is at q * dilation + padding_low - t.
    WindowDim& swapped = attrs.window.dims[s];
    swapped = WindowDim();
    swapped.size = positions;
    swapped.window_dilation = w.base_dilation;
    swapped.padding_low = taps - 1 - w.padding_low;
    swapped.padding_high =
        taps - 1 + swapped.DilatedSize() - w.size - swapped.padding_low;
  }
  Builder b(i->parent());
  b.set_metadata(i->shared_metadata());
  Instruction* gradient = i->parent()->Add(Opcode::kConvolution, i->shape(),
                                           {dy, x}, attrs, {}, i->name());
  gradient->set_metadata(i->shared_metadata());
  return b.Reverse(gradient, old.dims.output_spatial);
}

}  // namespace

absl::StatusOr<bool> DilatedGradientPass::Run(Module* module,
                                              const PassContext&) {
  if (module->config().is_scheduled) return false;
  return ExpandEach(module, WithInputAsWindow);
}

}  // namespace ptxla::hlo
