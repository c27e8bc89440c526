#include "hlo_backend/passes/products/pointwise_convolution.h"

#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/scheduled/convolution_to_dot.h"

namespace ptxla::hlo {
namespace {

// Rows of a tile, of packed types too.

// In the canonical form, with the batch as rows of whole tiles.
bool IsPointwise(const Instruction& convolution) {
  const ConvAttrs& a = convolution.attrs<ConvAttrs>();
  const auto spatial = static_cast<int64_t>(a.window.dims.size());
  const bool gradient = a.dims.input_feature == spatial;
  const int64_t rows = gradient ? a.dims.input_feature : a.dims.input_batch;
  const Shape& x = convolution.operand(0)->shape();
  const Shape& w = convolution.operand(1)->shape();
  if (rows != spatial || x.dim(static_cast<int>(rows)) % kTileRows != 0) {
    return false;
  }
  const SpatialRole role =
      gradient ? SpatialRole::kContracting : SpatialRole::kInput;
  for (int64_t s = 0; s < spatial; ++s) {
    const auto size = [s](const Shape& shape, const DimVector& dims) {
      return shape.dim(static_cast<int>(dims[s]));
    };
    if (a.dims.input_spatial[s] != s || a.dims.output_spatial[s] != s ||
        RoleOf(a.window.dims[s], size(x, a.dims.input_spatial),
               size(w, a.dims.kernel_spatial),
               size(convolution.shape(), a.dims.output_spatial)) != role) {
      return false;
    }
  }
  return true;
}

}  // namespace

absl::StatusOr<bool> PointwiseConvolutionPass::Run(Module* module,
                                                   const PassContext&) {
  if (module->config().is_scheduled) return false;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    bool here = false;
    for (Instruction* i : c->PostOrder()) {
      if (i->opcode() != Opcode::kConvolution || !IsPointwise(*i)) continue;
      here |= ReplaceByDot(i);
    }
    if (here) c->RemoveDead();
    changed |= here;
  }
  return changed;
}

}  // namespace ptxla::hlo
