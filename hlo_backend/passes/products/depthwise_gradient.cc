#include "hlo_backend/passes/products/depthwise_gradient.h"

#include <numeric>
#include <vector>

#include "chips/compiler_policy.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/dimension_order.h"
#include "hlo_backend/passes/memory/memory_space_assignment.h"
#include "hlo_backend/passes/products/convolution_canonicalizer.h"
#include "hlo_backend/passes/products/size_of.h"

namespace ptxla::hlo {
namespace {

bool IsFloat(const Instruction& i) {
  return i.shape().type() == PrimitiveType::kF32 ||
         i.shape().type() == PrimitiveType::kBf16;
}

// The image is read once per tap: in VMEM, or from HBM.
bool LiesInVmem(const Instruction& conv, const chips::ChipSpec& chip) {
  const auto& a = conv.attrs<ConvAttrs>();
  int64_t bytes = conv.operand(0)->shape().ByteSize();
  for (size_t s = 0; s < a.window.dims.size(); ++s) {
    const WindowDim& w = a.window.dims[s];
    const int64_t in = SizeOf(*conv.operand(0), a.dims.input_spatial[s]);
    bytes = bytes / in * (in + w.padding_low + w.padding_high);
  }
  return bytes <= WholeRoomForResidents(chip);
}

// Lies in memory: work in front of it would be done once per tap, or the planes
// that a tap sees would be kernels of their own.
bool IsInMemory(const Instruction* x) {
  while (x->opcode() == Opcode::kTranspose || x->opcode() == Opcode::kConvert ||
         x->opcode() == Opcode::kReshape || x->opcode() == Opcode::kBitcast) {
    x = x->operand(0);
  }
  return x->opcode() == Opcode::kParameter;
}

bool IsDepthwiseGradient(const Instruction& conv) {
  const auto& a = conv.attrs<ConvAttrs>();
  const ConvDims& d = a.dims;
  if (a.batch_group_count == 1 || a.feature_group_count != 1 ||
      !a.sparsity.empty() || a.window.dims.empty() ||
      SizeOf(*conv.operand(0), d.input_batch) != a.batch_group_count ||
      SizeOf(*conv.operand(1), d.kernel_output_feature) !=
          a.batch_group_count ||
      a.batch_group_count < chips::WholePolicy("depthwise_gradient_features") ||
      !IsFloat(conv) || !IsFloat(*conv.operand(0)) ||
      !IsFloat(*conv.operand(1)) ||
      !HasMoreTapsThanResults(a, conv.shape().dims()) ||
      !IsInMemory(conv.operand(0)) || !IsInMemory(conv.operand(1))) {
    return false;
  }
  for (const WindowDim& w : a.window.dims) {
    if (w.stride != 1 || w.base_dilation != 1 || w.window_dilation != 1 ||
        w.reversal) {
      return false;
    }
  }
  return conv.shape().ElementCount() / a.batch_group_count <=
         chips::WholePolicy("depthwise_gradient_taps");
}

// Planes outside, then the contracted batch and the features, with the zeros
// that the window has around.
Instruction* Padded(Builder* b, const Instruction& conv) {
  const auto& a = conv.attrs<ConvAttrs>();
  DimVector order(a.dims.input_spatial.begin(), a.dims.input_spatial.end());
  order.push_back(a.dims.input_feature);
  order.push_back(a.dims.input_batch);
  Instruction* x = conv.operand(0);
  if (!IsIdentityMapping(order)) x = b->Transpose(x, order);
  std::vector<PaddingDim> padding(order.size());
  bool pads = false;
  for (size_t s = 0; s < a.window.dims.size(); ++s) {
    padding[s].low = a.window.dims[s].padding_low;
    padding[s].high = a.window.dims[s].padding_high;
    pads |= padding[s].low != 0 || padding[s].high != 0;
  }
  return pads ? b->Pad(x, b->Zero(x->shape().type()), padding) : x;
}

}  // namespace

Instruction* DepthwiseGradient(Instruction* convolution,
                               const chips::ChipSpec* chip) {
  if (chip == nullptr || !IsDepthwiseGradient(*convolution) ||
      !LiesInVmem(*convolution, *chip)) {
    return nullptr;
  }
  const auto& a = convolution->attrs<ConvAttrs>();
  const ConvDims& d = a.dims;
  const size_t spatial = a.window.dims.size();
  Builder b(convolution->parent());
  b.set_metadata(convolution->shared_metadata());
  DimVector order(d.kernel_spatial.begin(), d.kernel_spatial.end());
  order.push_back(d.kernel_input_feature);
  order.push_back(d.kernel_output_feature);
  Instruction* x = Padded(&b, *convolution);
  Instruction* dy = convolution->operand(1);
  if (!IsIdentityMapping(order)) dy = b.Transpose(dy, order);
  dy = b.Convert(dy, PrimitiveType::kF32);
  DimVector contracted(spatial + 1), taps;
  std::iota(contracted.begin(), contracted.end(), 0);
  for (const int64_t s : d.output_spatial) {
    taps.push_back(SizeOf(*convolution, s));
  }
  Computation* add = b.Scalar2(Opcode::kAdd, PrimitiveType::kF32);
  std::vector<Instruction*> sums;
  DimVector tap(spatial, 0);
  for (int64_t n = 0; n < Product(taps); ++n) {
    int64_t rest = n;
    for (size_t s = spatial; s-- > 0; rest /= taps[s]) tap[s] = rest % taps[s];
    DimVector starts(spatial + 2, 0), limits = x->shape().dims();
    for (size_t s = 0; s < spatial; ++s) {
      starts[s] = tap[s];
      limits[s] = tap[s] + a.window.dims[s].size;
    }
    Instruction* seen =
        b.Convert(b.Slice(x, starts, limits), PrimitiveType::kF32);
    Instruction* sum = b.Reduce(b.Multiply(seen, dy),
                                b.Zero(PrimitiveType::kF32), contracted, add);
    sums.push_back(b.Reshape(sum, {1, a.batch_group_count}));
  }
  Instruction* all = sums.size() > 1 ? b.Concatenate(sums, 0) : sums[0];
  if (convolution->shape().type() != PrimitiveType::kF32) {
    all = b.Convert(all, convolution->shape().type());
  }
  DimVector result = taps,
            old(d.output_spatial.begin(), d.output_spatial.end());
  result.push_back(1);
  result.push_back(a.batch_group_count);
  old.push_back(d.output_batch);
  old.push_back(d.output_feature);
  all = b.Reshape(all, result);
  return IsIdentityMapping(old) ? all : b.Transpose(all, Inverse(old));
}

}  // namespace ptxla::hlo
