#include "hlo_backend/passes/products/blocked_gradient.h"

#include <algorithm>
#include <utility>

#include "hlo_backend/passes/products/convolution_canonicalizer.h"
#include "hlo_backend/passes/products/size_of.h"

namespace ptxla::hlo {
namespace {

// One of the two operands, and how it names what both have.
struct Operand {
  Instruction* value = nullptr;
  DimVector spatial;
  int64_t members = 0, features = 0;
};

class Gradient {
 public:
  Gradient(Instruction* convolution, BlockedImages* images)
      : convolution_(convolution),
        attrs_(convolution->attrs<ConvAttrs>()),
        b_(convolution->parent()),
        images_(*images) {
    b_.set_metadata(convolution->shared_metadata());
    const ConvDims& d = attrs_.dims;
    x_ = {convolution->operand(0), d.input_spatial, d.input_feature,
          d.input_batch};
    dy_ = {convolution->operand(1), d.kernel_spatial, d.kernel_input_feature,
           d.kernel_output_feature};
  }

  Instruction* Run() {
    if (!IsGradient() || !FindAxis()) return nullptr;
    const auto spatial = static_cast<int64_t>(x_.spatial.size());
    ConvAttrs attrs = attrs_;
    for (int64_t s = 0; s < spatial; ++s) {
      attrs.dims.input_spatial[s] = attrs.dims.kernel_spatial[s] = s;
    }
    attrs.dims.input_feature = attrs.dims.kernel_input_feature = spatial;
    attrs.dims.input_batch = attrs.dims.kernel_output_feature = spatial + 1;
    WindowDim& w = attrs.window.dims[axis_];
    w.size = planes_;
    w.padding_low = 0;
    w.padding_high = unseen_;
    BlockedValue x = InBlocks(x_, planes_ * w.window_dilation, 0);
    BlockedValue dy = InBlocks(dy_, planes_, 1);
    x.value =
        WithNeighbours(&b_, x, low_, high_, b_.Zero(x.value->shape().type()));
    Instruction* conv = b_.computation()->Add(
        Opcode::kConvolution, convolution_->shape(), {x.value, dy.value},
        std::move(attrs), {}, convolution_->name());
    conv->set_metadata(convolution_->shared_metadata());
    return conv;
  }

 private:
  bool IsGradient() const {
    if (attrs_.feature_group_count != 1 || attrs_.batch_group_count != 1 ||
        !attrs_.sparsity.empty() ||
        convolution_->shape().type() == PrimitiveType::kS32 ||
        !HasMoreTapsThanResults(attrs_, convolution_->shape().dims())) {
      return false;
    }
    return std::all_of(attrs_.window.dims.begin(), attrs_.window.dims.end(),
                       [](const WindowDim& w) {
                         return w.stride == 1 && w.base_dilation == 1 &&
                                !w.reversal;
                       });
  }

  // The axis that one of the operands is cut along, and how finely the gradient
  // is then.
  bool FindAxis() {
    for (const bool gradient : {true, false}) {
      const Operand& o = gradient ? dy_ : x_;
      const BlockedValue* v = images_.Of(o.value);
      if (v == nullptr || v->batch != o.members) continue;
      const auto at = std::find(o.spatial.begin(), o.spatial.end(), v->axis);
      if (at == o.spatial.end()) continue;
      axis_ = at - o.spatial.begin();
      blocks_ = v->blocks;
      const WindowDim& w = attrs_.window.dims[axis_];
      if (!gradient && v->planes() % w.window_dilation != 0) continue;
      planes_ = gradient ? v->planes() : v->planes() / w.window_dilation;
      return Meet(w);
    }
    return false;
  }

  bool Meet(const WindowDim& w) {
    const int64_t advance = planes_ * w.window_dilation;
    const int64_t results =
        SizeOf(*convolution_, attrs_.dims.output_spatial[axis_]);
    low_ = w.padding_low;
    const int64_t high = results - w.window_dilation - low_;
    high_ = std::max<int64_t>(high, 0);
    unseen_ = std::min<int64_t>(high, 0);
    return low_ >= 0 && low_ <= advance && high_ <= advance &&
           planes_ * blocks_ >= SizeOf(*dy_.value, dy_.spatial[axis_]) &&
           advance * blocks_ >= SizeOf(*x_.value, x_.spatial[axis_]);
  }

  // Zeros beyond the image: what they meet is summed.
  BlockedValue InBlocks(const Operand& o, int64_t planes, int operand) {
    BlockedValue like;
    like.order = o.spatial;
    like.order.push_back(o.members);
    like.order.push_back(o.features);
    like.axis = o.spatial[axis_];
    like.batch = o.members;
    like.blocks = blocks_;
    like.length = SizeOf(*o.value, like.axis);
    BlockedValue v = images_.Cut(o.value, planes, like);
    v.value = InOrder(&b_, v, like.order);
    v.order = like.order;
    v.value = WithZeros(&b_, v);
    if (v.value->shape().type() == PrimitiveType::kF32 &&
        attrs_.precision.operand(operand) == Precision::kDefault) {
      // As the arrays take it.
      v.value = b_.Convert(v.value, PrimitiveType::kBf16);
    }
    return v;
  }

  Instruction* convolution_;
  const ConvAttrs attrs_;
  Builder b_;
  BlockedImages& images_;
  Operand x_, dy_;
  int64_t axis_ = 0, blocks_ = 1;
  int64_t planes_ = 1;          // of a block of the result's gradient
  int64_t low_ = 0, high_ = 0;  // planes of its neighbours that the image needs
  int64_t unseen_ = 0;  // what of a block no tap meets, less than nothing
};

}  // namespace

Instruction* BlockedGradient(Instruction* convolution, BlockedImages* images) {
  return Gradient(convolution, images).Run();
}

}  // namespace ptxla::hlo
