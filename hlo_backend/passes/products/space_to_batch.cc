#include "hlo_backend/passes/products/space_to_batch.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/units.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/products/gradient_batches.h"
#include "hlo_backend/passes/products/gradient_positions.h"
#include "hlo_backend/passes/products/overlapping_blocks.h"
#include "hlo_backend/passes/products/size_of.h"

namespace ptxla::hlo {
namespace {

// Of an axis with its padding, for each block: less would be mostly overlap.
constexpr int64_t kFewestPlanes = 2;

class Cutter {
 public:
  explicit Cutter(Instruction* convolution)
      : convolution_(convolution),
        attrs_(convolution->attrs<ConvAttrs>()),
        b_(convolution->parent()) {
    b_.set_metadata(convolution->shared_metadata());
  }

  // The value that stands for the convolution, or null.
  Instruction* Run(int64_t rows) {
    if (!Fits(rows)) return nullptr;
    const ConvDims& d = attrs_.dims;
    ConvAttrs attrs = attrs_;
    const int spatial = static_cast<int>(attrs_.window.dims.size());
    attrs.dims.input_spatial.clear();
    attrs.dims.output_spatial.clear();
    for (int s = 0; s < spatial; ++s) {
      attrs.dims.input_spatial.push_back(s);
      attrs.dims.output_spatial.push_back(s);
    }
    attrs.dims.input_batch = attrs.dims.output_batch = spatial;
    attrs.dims.input_feature = attrs.dims.output_feature = spatial + 1;
    attrs.window.dims[axis_].padding_low = padding_low_;
    attrs.window.dims[axis_].padding_high = padding_high_;
    DimVector result;
    for (int s = 0; s < spatial; ++s) {
      result.push_back(s == axis_ ? outputs_
                                  : SizeOf(*convolution_, d.output_spatial[s]));
    }
    result.push_back(batch_ * blocks_);
    result.push_back(SizeOf(*convolution_, d.output_feature));
    Instruction* conv = b_.computation()->Add(
        Opcode::kConvolution,
        Shape::Array(convolution_->shape().type(), result),
        {Input(), convolution_->operand(1)}, std::move(attrs), {},
        convolution_->name());
    conv->set_metadata(convolution_->shared_metadata());
    return Result(conv);
  }

 private:
  bool Fits(int64_t rows) {
    const ConvDims& d = attrs_.dims;
    if ((attrs_.feature_group_count != 1 && !IsDepthwise()) ||
        attrs_.batch_group_count != 1 || !attrs_.sparsity.empty() ||
        attrs_.window.dims.empty() ||
        convolution_->shape().type() == PrimitiveType::kS32) {
      return false;
    }
    batch_ = SizeOf(*convolution_->operand(0), d.input_batch);
    if (batch_ == 0 || batch_ >= rows) return false;
    blocks_ = rows;
    int64_t taps = 1;
    for (const WindowDim& w : attrs_.window.dims) taps *= w.size;
    axis_ = static_cast<int>(attrs_.window.dims.size()) - 1;
    const WindowDim& w = attrs_.window.dims[axis_];
    return taps > 1 && w.padding_low >= 0 &&
           (w.base_dilation == 1 ? CutImage(w) : CutDilatedImage(w));
  }

  bool IsDepthwise() const {
    const Instruction& weights = *convolution_->operand(1);
    return SizeOf(weights, attrs_.dims.kernel_input_feature) == 1 &&
           SizeOf(weights, attrs_.dims.kernel_output_feature) ==
               attrs_.feature_group_count;
  }

  // Of the axis that is cut.
  int64_t Planes() const {
    return SizeOf(*convolution_->operand(0), attrs_.dims.input_spatial[axis_]);
  }
  int64_t Outputs() const {
    return SizeOf(*convolution_, attrs_.dims.output_spatial[axis_]);
  }
  static int64_t Reach(const WindowDim& w) {
    return (w.size - 1) * w.window_dilation + 1;
  }

  // Blocks of the image with its padding, and what they see of the next.
  bool CutImage(const WindowDim& w) {
    const int64_t padded = Planes() + w.padding_low + w.padding_high;
    outputs_ = std::max(CeilOfRatio(Outputs(), blocks_),
                        CeilOfRatio(padded, blocks_ * w.stride));
    advance_ = outputs_ * w.stride;
    zeros_ = w.padding_low;
    high_ = Reach(w) - w.stride;
    return padded >= kFewestPlanes * blocks_ && high_ >= 0 &&
           high_ <= CeilOfRatio(padded, blocks_) &&
           zeros_ + Planes() <= blocks_ * advance_;
  }

  // Every block begins at a plane, and sees some of both neighbours.
  bool CutDilatedImage(const WindowDim& w) {
    const int64_t have = Planes(), dilation = w.base_dilation;
    outputs_ = RoundUpTo(CeilOfRatio(Outputs(), blocks_),
                         dilation / std::gcd(w.stride, dilation));
    advance_ = outputs_ * w.stride / dilation;
    // What the last output sees last, from the block's first plane on.
    const int64_t last =
        (outputs_ - 1) * w.stride + Reach(w) - 1 - w.padding_low;
    low_ = w.padding_low / dilation;
    high_ = last / dilation + 1 - advance_;
    padding_low_ = w.padding_low % dilation;
    padding_high_ = last % dilation;
    // What lies behind the last block would have to be a neighbour of it.
    return have + w.padding_low + w.padding_high >= kFewestPlanes * blocks_ &&
           last >= 0 && low_ <= advance_ && high_ >= 0 && high_ <= advance_ &&
           have <= blocks_ * advance_;
  }

  // [planes, other axes, batch * blocks, features].
  Instruction* Input() {
    const ConvDims& d = attrs_.dims;
    Instruction* x = convolution_->operand(0);
    if (x->shape().type() == PrimitiveType::kF32 &&
        attrs_.feature_group_count == 1 &&
        attrs_.precision.operand(0) == Precision::kDefault) {
      x = b_.Convert(x, PrimitiveType::kBf16);  // as the arrays take it
    }
    DimVector order = {d.input_batch, d.input_spatial[axis_]};
    for (int s = 0; s < axis_; ++s) order.push_back(d.input_spatial[s]);
    order.push_back(d.input_feature);
    if (!IsIdentityMapping(order)) x = b_.Transpose(x, order);
    x = OverlappingBlocks(&b_, x, {blocks_, advance_, low_, high_, zeros_});
    // [batch * blocks, axis, other axes, features]: axes first, in order.
    DimVector inside;
    for (int s = 0; s < axis_; ++s) inside.push_back(s + 2);
    inside.insert(inside.end(), {1, 0, axis_ + 2});
    return b_.Transpose(x, inside);
  }

  Instruction* Result(Instruction* conv) {
    const ConvDims& d = attrs_.dims;
    DimVector order = {axis_ + 1, axis_};
    for (int s = 0; s < axis_; ++s) order.push_back(s);
    order.push_back(axis_ + 2);
    Instruction* y = b_.Transpose(conv, order);
    DimVector merged = y->shape().dims();
    merged[0] = batch_;
    merged[1] = blocks_ * outputs_;
    y = b_.Reshape(y, merged);
    DimVector limits = merged;
    limits[1] = Outputs();
    if (limits[1] != merged[1]) {
      y = b_.Slice(y, DimVector(limits.size(), 0), limits);
    }
    DimVector back(limits.size(), 0);
    back[d.output_spatial[axis_]] = 1;
    for (int s = 0; s < axis_; ++s) back[d.output_spatial[s]] = s + 2;
    back[d.output_feature] = axis_ + 2;
    return IsIdentityMapping(back) ? y : b_.Transpose(y, back);
  }

  Instruction* convolution_;
  const ConvAttrs attrs_;
  Builder b_;
  int64_t batch_ = 1, blocks_ = 1;
  int axis_ = 0;  // that is cut
  // Of a block: outputs, planes, and planes that it sees of its neighbours.
  int64_t outputs_ = 1, advance_ = 1, low_ = 0, high_ = 0;
  int64_t zeros_ = 0;  // in front of the first
  // Zeros between the planes of a dilated image, seen at a block's ends.
  int64_t padding_low_ = 0, padding_high_ = 0;
};

}  // namespace

absl::StatusOr<bool> SpaceToBatchPass::Run(Module* module,
                                           const PassContext& context) {
  if (module->config().is_scheduled || context.chip == nullptr) return false;
  const auto rows = static_cast<int64_t>(
      context.chip->Policy("space_to_batch_rows").value_or(0));
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    bool here = false;
    for (Instruction* i : c->PostOrder()) {
      if (i->opcode() != Opcode::kConvolution) continue;
      Instruction* value = Cutter(i).Run(rows);
      if (value == nullptr && rows > 0) value = GradientInBlocks(i);
      if (value == nullptr) value = GradientOfEvenPositions(i);
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
