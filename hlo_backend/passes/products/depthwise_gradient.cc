#include "hlo_backend/passes/products/depthwise_gradient.h"

#include <numeric>

#include "chips/compiler_policy.h"
#include "hlo_backend/analysis/plane_windows.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/dimension_order.h"
#include "hlo_backend/passes/products/convolution_canonicalizer.h"
#include "hlo_backend/passes/products/size_of.h"

namespace ptxla::hlo {
namespace {

bool MakesFloats(const Instruction& i) {
  return i.shape().type() == PrimitiveType::kF32 ||
         i.shape().type() == PrimitiveType::kBf16;
}

// Spatial dimensions, then these two.
DimVector Order(const DimVector& spatial, int64_t rows, int64_t lanes) {
  DimVector order = spatial;
  order.push_back(rows);
  order.push_back(lanes);
  return order;
}

Instruction* Ordered(Builder* b, Instruction* x, const DimVector& order) {
  return IsIdentityMapping(order) ? x : b->Transpose(x, order);
}

}  // namespace

bool IsGradientOfDepthwise(const Instruction& conv) {
  const auto& a = conv.attrs<ConvAttrs>();
  const ConvDims& d = a.dims;
  const int64_t features = a.batch_group_count;
  if (features == 1 || a.feature_group_count != 1 || !a.sparsity.empty() ||
      a.window.dims.empty() ||
      static_cast<int>(a.window.dims.size()) > kMostWindowPlanes ||
      SizeOf(*conv.operand(0), d.input_batch) != features ||
      SizeOf(*conv.operand(1), d.kernel_output_feature) != features ||
      SizeOf(*conv.operand(0), d.input_feature) % kTileRows != 0 ||
      !MakesFloats(conv) || !MakesFloats(*conv.operand(0)) ||
      conv.operand(0)->shape().type() != conv.operand(1)->shape().type() ||
      !HasMoreTapsThanResults(a, conv.shape().dims())) {
    return false;
  }
  for (const WindowDim& w : a.window.dims) {
    if (w.base_dilation != 1 || w.reversal) return false;
  }
  return conv.shape().ElementCount() / features <=
         chips::WholePolicy("depthwise_gradient_taps");
}

Instruction* DepthwiseGradient(Instruction* conv) {
  const ConvDims& d = conv->attrs<ConvAttrs>().dims;
  const DimVector in = Order(d.input_spatial, d.input_feature, d.input_batch);
  const DimVector kernel =
      Order(d.kernel_spatial, d.kernel_input_feature, d.kernel_output_feature);
  const DimVector out =
      Order(d.output_spatial, d.output_batch, d.output_feature);
  if (IsIdentityMapping(in) && IsIdentityMapping(kernel) &&
      IsIdentityMapping(out)) {
    return nullptr;
  }
  Builder b(conv->parent());
  b.set_metadata(conv->shared_metadata());
  ConvAttrs attrs = conv->attrs<ConvAttrs>();
  const auto spatial = static_cast<int64_t>(in.size()) - 2;
  DimVector planes(spatial);
  std::iota(planes.begin(), planes.end(), 0);
  attrs.dims.input_spatial = attrs.dims.kernel_spatial =
      attrs.dims.output_spatial = planes;
  attrs.dims.input_feature = attrs.dims.kernel_input_feature =
      attrs.dims.output_batch = spatial;
  attrs.dims.input_batch = attrs.dims.kernel_output_feature =
      attrs.dims.output_feature = spatial + 1;
  Instruction* value = conv->parent()->AddLike(
      *conv,
      Shape::Array(conv->shape().type(), Permuted(conv->shape().dims(), out)),
      {Ordered(&b, conv->operand(0), in),
       Ordered(&b, conv->operand(1), kernel)});
  value->set_attributes(attrs);
  return Ordered(&b, value, Inverse(out));
}

}  // namespace ptxla::hlo
