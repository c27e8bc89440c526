#include "hlo_backend/passes/products/space_to_batch.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/units.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/products/blocked_gradient.h"
#include "hlo_backend/passes/products/blocked_images.h"
#include "hlo_backend/passes/products/gradient_batches.h"
#include "hlo_backend/passes/products/gradient_positions.h"
#include "hlo_backend/passes/products/size_of.h"

namespace ptxla::hlo {
namespace {

// Of an axis with its padding, for each block: less would be mostly overlap.
constexpr int64_t kFewestPlanes = 2;

class Cutter {
 public:
  Cutter(Instruction* convolution, BlockedImages* images)
      : convolution_(convolution),
        attrs_(convolution->attrs<ConvAttrs>()),
        b_(convolution->parent()),
        images_(*images) {
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
    if (FollowsBlocks()) return true;
    int64_t taps = 1;
    for (const WindowDim& w : attrs_.window.dims) taps *= w.size;
    axis_ = static_cast<int>(attrs_.window.dims.size()) - 1;
    const WindowDim& w = attrs_.window.dims[axis_];
    return taps > 1 && w.padding_low >= 0 &&
           (w.base_dilation == 1 ? CutImage(w) : CutDilatedImage(w));
  }

  // What is in blocks already stays in them.
  bool FollowsBlocks() {
    const ConvDims& d = attrs_.dims;
    const BlockedValue* v = images_.Of(convolution_->operand(0));
    if (v == nullptr || v->batch != d.input_batch) return false;
    const auto at =
        std::find(d.input_spatial.begin(), d.input_spatial.end(), v->axis);
    if (at == d.input_spatial.end()) return false;
    axis_ = static_cast<int>(at - d.input_spatial.begin());
    const WindowDim& w = attrs_.window.dims[axis_];
    if (w.base_dilation != 1 || w.padding_low < 0 ||
        v->planes() % w.stride != 0) {
      return false;
    }
    blocks_ = v->blocks;
    advance_ = v->planes();
    outputs_ = advance_ / w.stride;
    SeeNeighbours(w);
    return outputs_ * blocks_ >= Outputs() && low_ <= advance_ &&
           high_ <= advance_;
  }

  // Of blocks that begin where the image does.
  void SeeNeighbours(const WindowDim& w) {
    low_ = w.padding_low;
    const int64_t high = Reach(w) - w.stride - low_;
    high_ = std::max<int64_t>(high, 0);
    padding_high_ = std::min<int64_t>(high, 0);
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

  bool CutImage(const WindowDim& w) {
    const int64_t padded = Planes() + w.padding_low + w.padding_high;
    outputs_ = std::max(CeilOfRatio(Outputs(), blocks_),
                        CeilOfRatio(Planes(), blocks_ * w.stride));
    advance_ = outputs_ * w.stride;
    const int64_t seen = Reach(w) - w.stride;
    SeeNeighbours(w);
    return padded >= kFewestPlanes * blocks_ && seen >= 0 &&
           seen <= CeilOfRatio(padded, blocks_) && low_ <= advance_ &&
           high_ <= advance_ && Planes() <= blocks_ * advance_;
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

  // The array's dimensions in the order of blocks: axes, batch, features.
  static DimVector Order(const DimVector& spatial, int64_t batch,
                         int64_t feature) {
    DimVector order = spatial;
    order.push_back(batch);
    order.push_back(feature);
    return order;
  }

  // [axes, batch * blocks, features], with what blocks see of others.
  Instruction* Input() {
    const ConvDims& d = attrs_.dims;
    Instruction* x = convolution_->operand(0);
    BlockedValue like;
    like.order = Order(d.input_spatial, d.input_batch, d.input_feature);
    like.axis = d.input_spatial[axis_];
    like.batch = d.input_batch;
    like.blocks = blocks_;
    like.length = Planes();
    if (images_.Of(x) == nullptr) x = Narrow(x);  // before it is moved
    BlockedValue v = images_.Cut(x, advance_, like);
    v.value = InOrder(&b_, v, like.order);
    v.order = like.order;
    if (attrs_.window.dims[axis_].padding_high > 0) {
      v.value = WithZeros(&b_, v);  // the window meets them
    }
    v.value = Narrow(v.value);
    return WithNeighbours(&b_, v, low_, high_,
                          b_.Zero(v.value->shape().type()));
  }

  // As the arrays take it.
  Instruction* Narrow(Instruction* x) {
    return x->shape().type() == PrimitiveType::kF32 &&
                   attrs_.feature_group_count == 1 &&
                   attrs_.precision.operand(0) == Precision::kDefault
               ? b_.Convert(x, PrimitiveType::kBf16)
               : x;
  }

  Instruction* Result(Instruction* conv) {
    const ConvDims& d = attrs_.dims;
    BlockedValue v;
    v.value = conv;
    v.order = Order(d.output_spatial, d.output_batch, d.output_feature);
    v.axis = d.output_spatial[axis_];
    v.batch = d.output_batch;
    v.blocks = blocks_;
    v.length = Outputs();
    Instruction* whole = WholeImage(&b_, v);
    images_.Add(whole, std::move(v));
    return whole;
  }

  Instruction* convolution_;
  const ConvAttrs attrs_;
  Builder b_;
  BlockedImages& images_;
  int64_t batch_ = 1, blocks_ = 1;
  int axis_ = 0;  // that is cut
  // Of a block: outputs, planes, and planes that it sees of its neighbours.
  int64_t outputs_ = 1, advance_ = 1, low_ = 0, high_ = 0;
  // Zeros between the planes of a dilated image, seen at a block's ends; or
  // what of a block its last output does not see, less than nothing.
  int64_t padding_low_ = 0, padding_high_ = 0;
};

}  // namespace

absl::StatusOr<bool> SpaceToBatchPass::Run(Module* module,
                                           const PassContext& context) {
  if (module->config().is_scheduled || context.chip == nullptr) return false;
  const auto rows = static_cast<int64_t>(
      context.chip->Policy("space_to_batch_rows").value_or(0));
  if ((rows & (rows - 1)) != 0) {  // blocked_value.cc counts with masks
    return absl::InvalidArgumentError(absl::StrCat(
        "policy space_to_batch_rows: ", rows, " is no power of two"));
  }
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    bool here = false;
    const std::vector<Instruction*> order = c->PostOrder();
    BlockedImages images(order);
    for (Instruction* i : order) {
      Instruction* value = nullptr;
      if (i->opcode() == Opcode::kConvolution) {
        value = Cutter(i, &images).Run(rows);
        if (value == nullptr) value = BlockedGradient(i, &images);
        if (value == nullptr && rows > 0) value = GradientInBlocks(i);
        if (value == nullptr) value = GradientOfEvenPositions(i);
      } else {
        value = images.Follow(i);
      }
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
