#include "hlo_backend/passes/x64/tap_products.h"

#include <vector>

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/expanders/counter_loop.h"
#include "hlo_backend/passes/expanders/expand_each.h"
#include "hlo_backend/passes/x64/x64_pairs.h"

namespace ptxla::hlo {
namespace {

constexpr PrimitiveType kF64 = PrimitiveType::kF64;

class TapProducts {
 public:
  explicit TapProducts(Instruction* convolution)
      : conv_(convolution),
        a_(convolution->attrs<ConvAttrs>()),
        b_(convolution->parent()) {
    b_.set_metadata(convolution->shared_metadata());
    feature_groups_ = a_.feature_group_count > 1;
    groups_ = feature_groups_ ? a_.feature_group_count : a_.batch_group_count;
    const Shape& out = conv_->shape();
    batch_ = DimOf(out, a_.dims.output_batch);
    columns_ = DimOf(out, a_.dims.output_feature) / groups_;
    for (const int64_t d : a_.dims.output_spatial) {
      outputs_.push_back(DimOf(out, d));
    }
  }

  Instruction* Expand() {
    Instruction* input = Input();
    Instruction* weights = Weights();
    DimVector sums = {groups_, batch_};
    sums.insert(sums.end(), outputs_.begin(), outputs_.end());
    sums.push_back(columns_);
    Instruction* zeros = b_.BroadcastScalar(b_.Zero(kF64), sums);
    Instruction* loop = CounterLoop(
        b_, "taps", {zeros, input, weights}, weights->shape().dim(0),
        [&](Builder& in, Instruction* tap,
            const std::vector<Instruction*>& now) {
          Instruction* part = in.Emit(
              Opcode::kDot, {Met(in, now[1], tap), TapOf(in, now[2], tap)},
              Product());
          return std::vector<Instruction*>{in.Add(now[0], part), now[1],
                                           now[2]};
        });
    return Result(b_.GetTupleElement(loop, 1));
  }

 private:
  static int64_t DimOf(const Shape& shape, int64_t d) {
    return shape.dim(static_cast<int>(d));
  }
  Instruction* Wide(Instruction* x) {
    return x->shape().type() == kF64 ? x : b_.Convert(x, kF64);
  }
  int rank() const { return static_cast<int>(outputs_.size()); }

  // [groups, batch, spatial..., features], padded and dilated.
  Instruction* Input() {
    Instruction* x = Wide(conv_->operand(0));
    const ConvDims& d = a_.dims;
    DimVector order = {d.input_batch};
    order.insert(order.end(), d.input_spatial.begin(), d.input_spatial.end());
    order.push_back(d.input_feature);
    x = b_.Transpose(x, order);
    std::vector<PaddingDim> padding(x->shape().rank());
    for (int s = 0; s < rank(); ++s) {
      const WindowDim& w = a_.window.dims[s];
      padding[s + 1] = {w.padding_low, w.padding_high, w.base_dilation - 1};
    }
    x = b_.Pad(x, b_.Zero(kF64), padding);
    DimVector split(x->shape().dims().begin(), x->shape().dims().end());
    const int64_t features = split.back() / (feature_groups_ ? groups_ : 1);
    split[0] = batch_;
    split.back() = features;
    if (!feature_groups_) {
      split.insert(split.begin(), groups_);
      return b_.Reshape(x, split);
    }
    split.insert(split.end() - 1, groups_);
    DimVector first = {rank() + 1};
    for (int64_t k = 0; k < rank() + 3; ++k) {
      if (k != rank() + 1) first.push_back(k);
    }
    return b_.Transpose(b_.Reshape(x, split), first);
  }

  // [taps, features, groups, columns], the taps in the order of the input.
  Instruction* Weights() {
    Instruction* w = Wide(conv_->operand(1));
    const ConvDims& d = a_.dims;
    DimVector reversed;
    for (int s = 0; s < rank(); ++s) {
      if (a_.window.dims[s].reversal) reversed.push_back(d.kernel_spatial[s]);
    }
    if (!reversed.empty()) w = b_.Reverse(w, reversed);
    DimVector order(d.kernel_spatial.begin(), d.kernel_spatial.end());
    order.push_back(d.kernel_input_feature);
    order.push_back(d.kernel_output_feature);
    const int64_t features = DimOf(w->shape(), d.kernel_input_feature);
    int64_t taps = 1;
    for (const WindowDim& dim : a_.window.dims) taps *= dim.size;
    return b_.Reshape(b_.Transpose(w, order),
                      {taps, features, groups_, columns_});
  }

  // What the outputs meet through tap number `tap`.
  Instruction* Met(Builder& b, Instruction* input, Instruction* tap) const {
    const Shape& shape = input->shape();
    std::vector<Instruction*> starts(shape.rank(), b.Zero(kS32));
    DimVector spans(shape.dims().begin(), shape.dims().end());
    DimVector strides(shape.rank(), 1);
    for (int s = rank(); s-- > 0;) {
      const WindowDim& w = a_.window.dims[s];
      Instruction* size = b.ConstantScalar(kS32, static_cast<double>(w.size));
      starts[s + 2] = b.Multiply(
          b.Remainder(tap, size),
          b.ConstantScalar(kS32, static_cast<double>(w.window_dilation)));
      tap = b.Divide(tap, size);
      spans[s + 2] = (outputs_[s] - 1) * w.stride + 1;
      strides[s + 2] = w.stride;
    }
    Instruction* met = b.DynamicSlice(input, starts, spans);
    return b.Slice(met, DimVector(shape.rank(), 0), spans, strides);
  }

  static Instruction* TapOf(Builder& b, Instruction* weights,
                            Instruction* tap) {
    const Shape& w = weights->shape();
    Instruction* zero = b.Zero(kS32);
    return b.Reshape(b.DynamicSlice(weights, {tap, zero, zero, zero},
                                    {1, w.dim(1), w.dim(2), w.dim(3)}),
                     {w.dim(1), w.dim(2), w.dim(3)});
  }

  DotAttrs Product() const {
    DotAttrs dot;
    dot.lhs_batch = {0};
    dot.rhs_batch = {1};
    dot.lhs_contracting = {rank() + 2};
    dot.rhs_contracting = {0};
    return dot;
  }

  // Of sums [groups, batch, spatial..., columns].
  Instruction* Result(Instruction* sums) {
    DimVector last;
    for (int64_t k = 1; k < rank() + 2; ++k) last.push_back(k);
    last.push_back(0);
    last.push_back(rank() + 2);
    DimVector dims = {batch_};
    dims.insert(dims.end(), outputs_.begin(), outputs_.end());
    dims.push_back(groups_ * columns_);
    Instruction* result = b_.Reshape(b_.Transpose(sums, last), dims);
    DimVector order(rank() + 2);
    order[a_.dims.output_batch] = 0;
    order[a_.dims.output_feature] = rank() + 1;
    for (int s = 0; s < rank(); ++s) {
      order[a_.dims.output_spatial[s]] = s + 1;
    }
    return b_.Transpose(result, order);
  }

  Instruction* conv_;
  const ConvAttrs& a_;
  Builder b_;
  bool feature_groups_ = false;
  int64_t groups_ = 1, batch_ = 1, columns_ = 1;
  DimVector outputs_;
};

bool IsWide(const Instruction& i) {
  return i.opcode() == Opcode::kConvolution && i.operand_count() == 2 &&
         i.shape().type() == kF64 && i.shape().ElementCount() > 0 &&
         !IsComplex(i.operand(0)->shape().type()) &&
         !IsComplex(i.operand(1)->shape().type());
}

}  // namespace

absl::StatusOr<bool> TapProductsPass::Run(Module* module, const PassContext&) {
  return ExpandEach(module, [](Instruction* i) -> Instruction* {
    return IsWide(*i) ? TapProducts(i).Expand() : nullptr;
  });
}

}  // namespace ptxla::hlo
