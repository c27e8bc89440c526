#include "hlo_backend/passes/products/gradient_positions.h"

#include <algorithm>

#include "base/units.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/products/convolution_canonicalizer.h"
#include "hlo_backend/passes/products/size_of.h"

namespace ptxla::hlo {
namespace {

// Positions that a step takes at most, and those that pay for its control.
// ASSUMED.
constexpr int64_t kMostOfStep = 4096, kFewestOfStep = 64;

// The largest equal part of `count` that a step takes.
int64_t LargestPart(int64_t count) {
  for (int64_t part = std::min(count, kMostOfStep); part > 1; --part) {
    if (count % part == 0) return part;
  }
  return 1;
}

}  // namespace

Instruction* GradientOfEvenPositions(Instruction* convolution) {
  const auto& attrs = convolution->attrs<ConvAttrs>();
  if (attrs.window.dims.size() != 1 || attrs.feature_group_count != 1 ||
      attrs.batch_group_count != 1 || !attrs.sparsity.empty() ||
      HasControlEdges(*convolution) ||
      !HasMoreTapsThanResults(attrs, convolution->shape().dims())) {
    return nullptr;
  }
  const WindowDim& window = attrs.window.dims[0];
  if (window.reversal || window.base_dilation != 1 ||
      LargestPart(window.size) >= std::min(window.size, kFewestOfStep)) {
    return nullptr;
  }
  Builder b(convolution->parent());
  b.set_metadata(convolution->shared_metadata());
  Instruction* dy = convolution->operand(1);
  const int64_t more =
      RoundUpTo<int64_t>(window.size, kFewestOfStep) - window.size;
  PadAttrs pad;
  pad.dims.resize(dy->shape().rank());
  pad.dims[attrs.dims.kernel_spatial[0]].high = more;
  Instruction* gradient = convolution->parent()->AddLike(
      *convolution, convolution->shape(),
      {convolution->operand(0),
       b.Pad(dy, b.Zero(dy->shape().type()), pad.dims)});
  WindowDim& wider = gradient->mutable_attrs<ConvAttrs>()->window.dims[0];
  wider.size += more;
  wider.padding_high += more * wider.window_dilation;
  return gradient;
}

}  // namespace ptxla::hlo
