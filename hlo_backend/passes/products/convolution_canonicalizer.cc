#include "hlo_backend/passes/products/convolution_canonicalizer.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "hlo_backend/analysis/plane_windows.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/dimension_order.h"
#include "hlo_backend/passes/products/convolution_types.h"
#include "hlo_backend/passes/products/depthwise_gradient.h"
#include "hlo_backend/passes/products/group_axis.h"
#include "hlo_backend/passes/products/group_planes.h"
#include "hlo_backend/passes/products/grouped_features.h"
#include "hlo_backend/passes/products/size_of.h"

namespace ptxla::hlo {
namespace {

// A gradient's sums for all of its planes are in VMEM at once.
constexpr int64_t kMostResults = 64;
constexpr int64_t kLanes = 128, kTwoColumns = 2 * kLanes;
// Of a tile of them.
constexpr int64_t kFewFeatures = 8;

int64_t ResultsOf(const ConvAttrs& a, const DimVector& out) {
  int64_t results = 1;
  for (const int64_t d : a.dims.output_spatial) results *= out[d];
  return results;
}

// Over whole tiles of the batch.
bool IsGradient(const ConvAttrs& a, const Shape& input, const DimVector& out) {
  return HasMoreTapsThanResults(a, out) && ResultsOf(a, out) <= kMostResults &&
         input.dim(static_cast<int>(a.dims.input_feature)) % 8 == 0;
}

class Canonicalizer {
 public:
  explicit Canonicalizer(Instruction* convolution)
      : convolution_(convolution),
        attrs_(convolution->attrs<ConvAttrs>()),
        b_(convolution->parent()),
        x_(convolution->operand(0)),
        w_(convolution->operand(1)),
        shape_(convolution->shape().dims().begin(),
               convolution->shape().dims().end()) {
    b_.set_metadata(convolution->shared_metadata());
  }

  // The value that stands for the convolution, or null: it is canonical.
  Instruction* Run() {
    if (IsCanonical()) return nullptr;
    FoldOperands();
    Group();
    const int spatial = static_cast<int>(attrs_.dims.input_spatial.size());
    // Result dimension d of the canonical form is this one of the old form.
    DimVector in, kernel, out;
    ConvDims dims;
    for (int s = 0; s < spatial; ++s) {
      in.push_back(attrs_.dims.input_spatial[s]);
      kernel.push_back(attrs_.dims.kernel_spatial[s]);
      out.push_back(attrs_.dims.output_spatial[s]);
      dims.input_spatial.push_back(s);
      dims.kernel_spatial.push_back(s);
      dims.output_spatial.push_back(s);
    }
    // The kernel's features stay in their order where the arrays take both. A
    // gradient of weights contracts its batch where the forward pass has it.
    const bool depthwise = attrs_.feature_group_count > 1;
    const bool gradient = !depthwise && IsGradient();
    const bool io =
        gradient || depthwise || WantsRowsOfInputs() ||
        attrs_.dims.kernel_input_feature < attrs_.dims.kernel_output_feature;
    const auto append = [](DimVector* dims, int64_t a, int64_t b, bool swap) {
      dims->push_back(swap ? b : a);
      dims->push_back(swap ? a : b);
    };
    append(&in, attrs_.dims.input_batch, attrs_.dims.input_feature, gradient);
    append(&out, attrs_.dims.output_batch, attrs_.dims.output_feature,
           gradient);
    append(&kernel, attrs_.dims.kernel_input_feature,
           attrs_.dims.kernel_output_feature, !io);
    dims.input_batch = dims.output_batch = gradient ? spatial + 1 : spatial;
    dims.input_feature = dims.output_feature = gradient ? spatial : spatial + 1;
    dims.kernel_input_feature = io ? spatial : spatial + 1;
    dims.kernel_output_feature = io ? spatial + 1 : spatial;
    attrs_.dims = dims;
    RoundBeforeMoving(in);
    Instruction* conv = b_.computation()->Add(
        Opcode::kConvolution,
        Shape::Array(convolution_->shape().type(), Permuted(shape_, out)),
        {Transposed(x_, in), Transposed(w_, kernel)}, attrs_, {},
        convolution_->name());
    conv->set_metadata(convolution_->shared_metadata());
    if (batch_groups_ > 1) return KeepGroups(conv, out);
    Instruction* value = Transposed(conv, Inverse(out));
    return value->shape().SameDims(convolution_->shape())
               ? value
               : b_.Reshape(value, convolution_->shape().dims());
  }

 private:
  bool IsCanonical() const {
    const ConvDims& d = attrs_.dims;
    const auto spatial = static_cast<int64_t>(d.input_spatial.size());
    for (int64_t s = 0; s < spatial; ++s) {
      if (d.input_spatial[s] != s || d.kernel_spatial[s] != s ||
          d.output_spatial[s] != s) {
        return false;
      }
    }
    const bool gradient = d.input_feature == spatial &&
                          d.output_feature == spatial &&
                          d.kernel_input_feature == spatial;
    const bool forward = d.input_feature == spatial + 1 &&
                         d.output_feature == spatial + 1 &&
                         !(attrs_.feature_group_count == 1 && IsGradient() &&
                           x_->shape().dims().back() < kLanes);
    const bool one_group =
        attrs_.feature_group_count == 1 ||
        (IsDepthwise() && forward && d.kernel_input_feature == spatial);
    const bool io = !WantsRowsOfInputs() || d.kernel_input_feature == spatial;
    return (gradient || (forward && io)) && one_group &&
           attrs_.batch_group_count == 1 && w_->opcode() != Opcode::kReverse &&
           !HasFoldablePad();
  }

  // Taps whose features share tiles (convolutions/tap_packing.h) are put
  // together as rows; lanes would go through the XLU in every step. Weights
  // that are fewer than the input are turned before.
  bool WantsRowsOfInputs() const {
    const auto feature = static_cast<int>(attrs_.dims.input_feature);
    return attrs_.feature_group_count == 1 &&
           x_->shape().dim(feature) < kLanes &&
           w_->shape().ElementCount() <= x_->shape().ElementCount();
  }

  bool IsGradient() const {
    return hlo::IsGradient(attrs_, x_->shape(), shape_);
  }

  // A parameter of few features that is moved is moved as bf16, to which the
  // arrays round it anyway; so does the TPU compiler (the image before the
  // first layer). Its planes pad many times over.
  void RoundBeforeMoving(const DimVector& order) {
    if (x_->opcode() != Opcode::kParameter || IsIdentityMapping(order) ||
        x_->shape().type() != PrimitiveType::kF32 ||
        attrs_.precision.operand(0) != Precision::kDefault ||
        x_->shape().dim(static_cast<int>(order.back())) > kFewFeatures) {
      return;
    }
    x_ = b_.Convert(x_, PrimitiveType::kBf16);
  }

  Instruction* Transposed(Instruction* value, const DimVector& permutation) {
    return IsIdentityMapping(permutation) ? value
                                          : b_.Transpose(value, permutation);
  }

  static void Through(const Instruction& transpose, int64_t* dim) {
    *dim = transpose.dimensions()[*dim];
  }

  void FoldOperands() {
    ConvDims& d = attrs_.dims;
    while (FoldPad() || x_->opcode() == Opcode::kTranspose) {
      if (x_->opcode() != Opcode::kTranspose) continue;
      for (int64_t& s : d.input_spatial) Through(*x_, &s);
      Through(*x_, &d.input_batch);
      Through(*x_, &d.input_feature);
      x_ = x_->operand(0);
    }
    while (FoldKernel()) {
    }
  }

  static bool IsZero(const Instruction& value) {
    return IsScalarConstant(
        value.opcode() == Opcode::kConvert ? *value.operand(0) : value, 0);
  }

  // Zeros around the input, and between its elements, are the window's own.
  // `spatial`: dimensions of the pad that the window slides along.
  bool IsFoldable(const Instruction& pad, const DimVector& spatial) const {
    if (pad.opcode() != Opcode::kPad || !IsZero(*pad.operand(1))) return false;
    const auto& dims = pad.attrs<PadAttrs>().dims;
    for (size_t d = 0; d < dims.size(); ++d) {
      const auto at =
          std::find(spatial.begin(), spatial.end(), static_cast<int64_t>(d));
      if (at == spatial.end()) {
        if (dims[d].low != 0 || dims[d].high != 0 || dims[d].interior != 0) {
          return false;
        }
        continue;
      }
      const WindowDim& w = attrs_.window.dims[at - spatial.begin()];
      if (dims[d].interior != 0 && w.base_dilation != 1) return false;
      // What is cut off stays so where the window pads.
      if ((dims[d].low < 0 && w.padding_low > 0) ||
          (dims[d].high < 0 && w.padding_high > 0)) {
        return false;
      }
    }
    return true;
  }

  bool FoldPad() {
    const DimVector& spatial = attrs_.dims.input_spatial;
    if (!IsFoldable(*x_, spatial)) return false;
    const auto& pad = x_->attrs<PadAttrs>().dims;
    for (size_t s = 0; s < spatial.size(); ++s) {
      const auto& p = pad[spatial[s]];
      WindowDim& w = attrs_.window.dims[s];
      w.padding_low += p.low * w.base_dilation;
      w.padding_high += p.high * w.base_dilation;
      w.base_dilation *= p.interior + 1;
    }
    x_ = x_->operand(0);
    return true;
  }

  // Behind the transposes of the input.
  bool HasFoldablePad() const {
    const Instruction* x = x_;
    DimVector spatial = attrs_.dims.input_spatial;
    while (x->opcode() == Opcode::kTranspose) {
      for (int64_t& s : spatial) Through(*x, &s);
      x = x->operand(0);
    }
    return IsFoldable(*x, spatial);
  }

  bool FoldKernel() {
    ConvDims& d = attrs_.dims;
    if (w_->opcode() == Opcode::kTranspose) {
      for (int64_t& s : d.kernel_spatial) Through(*w_, &s);
      Through(*w_, &d.kernel_input_feature);
      Through(*w_, &d.kernel_output_feature);
    } else if (w_->opcode() == Opcode::kReverse &&
               !Contains(w_->dimensions(), d.kernel_input_feature) &&
               !Contains(w_->dimensions(), d.kernel_output_feature)) {
      for (size_t s = 0; s < d.kernel_spatial.size(); ++s) {
        if (!Contains(w_->dimensions(), d.kernel_spatial[s])) continue;
        bool& reversal = attrs_.window.dims[s].reversal;
        reversal = !reversal;
      }
    } else {
      return false;
    }
    w_ = w_->operand(0);
    return true;
  }

  // As many groups as features, in and out: work of the vector units
  // (lowering/pooling). Of f32 that fill one column of tiles the arrays are as
  // soon done, from bf16.
  bool IsDepthwise() const {
    const auto spatial = attrs_.dims.input_spatial.size();
    const auto size = [&](int64_t dim) {
      return w_->shape().dim(static_cast<int>(dim));
    };
    const PrimitiveType type = convolution_->shape().type();
    bool plain =
        attrs_.feature_group_count > 1 && attrs_.batch_group_count == 1 &&
        spatial >= 1 && static_cast<int>(spatial) <= kMostWindowPlanes &&
        size(attrs_.dims.kernel_input_feature) == 1 &&
        size(attrs_.dims.kernel_output_feature) == attrs_.feature_group_count &&
        (type == PrimitiveType::kBf16 ||
         (type == PrimitiveType::kF32 &&
          attrs_.feature_group_count >= kTwoColumns)) &&
        x_->shape().type() == type && w_->shape().type() == type;
    for (const WindowDim& w : attrs_.window.dims) {
      plain &= w.base_dilation == 1;
    }
    return plain;
  }

  void Group() {
    const ConvDims& d = attrs_.dims;
    if (attrs_.feature_group_count > 1 && !IsDepthwise()) {
      const int64_t groups = std::exchange(attrs_.feature_group_count, 1);
      if (MayHavePlanes() && FillPlanes(SizeOf(*w_, d.kernel_input_feature),
                                        SizeOfResults(groups))) {
        AsPlanes(groups, d.input_feature);
      } else {
        ExpandKernel(groups);
      }
    }
    if (attrs_.batch_group_count > 1) {
      const int64_t groups = std::exchange(attrs_.batch_group_count, 1);
      if (MayHavePlanes() &&
          FillPlanes(SizeOf(*x_, d.input_batch) / groups, SizeOfResults(groups),
                     SizeOf(*x_, d.input_feature))) {
        AsPlanes(groups, d.input_batch);
      } else {
        batch_groups_ = groups;
        shape_[d.output_batch] *= groups;
      }
    }
  }

  int64_t SizeOfResults(int64_t groups) const {
    return SizeOf(*w_, attrs_.dims.kernel_output_feature) / groups;
  }
  bool MayHavePlanes() const {
    return static_cast<int>(attrs_.dims.input_spatial.size()) <
           kMostWindowPlanes;
  }

  void AsPlanes(int64_t groups, int64_t of) {
    ConvolutionParts parts{x_, w_, attrs_, shape_};
    MakePlanesOfGroups(&b_, groups, of, &parts);
    x_ = parts.x;
    w_ = parts.w;
    attrs_ = std::move(parts.attrs);
    shape_ = std::move(parts.result);
  }

  // The dense kernel, its taps outside and its inputs in rows.
  void ExpandKernel(int64_t groups) {
    ConvDims& d = attrs_.dims;
    DimVector order(d.kernel_spatial.begin(), d.kernel_spatial.end());
    order.push_back(d.kernel_input_feature);
    order.push_back(d.kernel_output_feature);
    w_ = DenseKernel(&b_, Transposed(w_, order), groups);
    const auto spatial = static_cast<int64_t>(d.kernel_spatial.size());
    std::iota(d.kernel_spatial.begin(), d.kernel_spatial.end(), 0);
    d.kernel_input_feature = spatial;
    d.kernel_output_feature = spatial + 1;
  }

  // Of a dense result, whose dimension d is `out[d]` of the old order, the
  // part of each group.
  Instruction* KeepGroups(Instruction* dense, const DimVector& out) {
    const ConvDims& d = convolution_->attrs<ConvAttrs>().dims;
    DimVector order(d.output_spatial.begin(), d.output_spatial.end());
    order.push_back(d.output_batch);
    order.push_back(d.output_feature);
    Instruction* rows = Transposed(dense, Permuted(Inverse(out), order));
    return Transposed(OwnParts(&b_, rows, batch_groups_), Inverse(order));
  }

  Instruction* convolution_;
  ConvAttrs attrs_;
  Builder b_;
  Instruction *x_, *w_;
  DimVector shape_;  // of the result, in the old order of dimensions
  int64_t batch_groups_ = 1;
};

}  // namespace

bool HasMoreTapsThanResults(const ConvAttrs& convolution,
                            const DimVector& result) {
  int64_t taps = 1;
  for (const WindowDim& d : convolution.window.dims) taps *= d.size;
  return taps > ResultsOf(convolution, result);
}

bool ContractsFewLanes(const Instruction& convolution) {
  const auto& a = convolution.attrs<ConvAttrs>();
  const Shape& input = convolution.operand(0)->shape();
  const auto minor = static_cast<int>(a.dims.input_feature);
  return input.has_layout() && input.layout().minor_to_major.front() == minor &&
         input.dim(minor) < kLanes && a.feature_group_count == 1 &&
         a.batch_group_count == 1 &&
         IsGradient(a, input, convolution.shape().dims());
}

absl::StatusOr<bool> ConvolutionCanonicalizerPass::Run(
    Module* module, const PassContext& context) {
  if (module->config().is_scheduled) return false;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    for (Instruction* i : c->PostOrder()) {
      if (i->opcode() != Opcode::kConvolution) continue;
      Instruction* value = OnArrayTypes(i);
      if (value == nullptr) value = GroupsOfAxis(i);
      if (value == nullptr) value = DepthwiseGradient(i, context.chip);
      if (value == nullptr) value = Canonicalizer(i).Run();
      if (value == nullptr) continue;
      c->Replace(i, value);
      changed = true;
    }
    if (changed) c->RemoveDead();
  }
  return changed;
}

}  // namespace ptxla::hlo
