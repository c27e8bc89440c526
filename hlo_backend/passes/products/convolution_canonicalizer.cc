#include "hlo_backend/passes/products/convolution_canonicalizer.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "hlo_backend/analysis/plane_windows.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/dimension_order.h"
#include "hlo_backend/passes/products/convolution_parts.h"
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
// Of a tile of them.
constexpr int64_t kFewFeatures = 8;

int64_t ResultsOf(const ConvAttrs& a, const DimVector& out) {
  int64_t results = 1;
  for (const int64_t d : a.dims.output_spatial) results *= out[d];
  return results;
}

// Over tiles of the batch.
bool IsGradient(const ConvAttrs& a, const Shape& input, const DimVector& out) {
  return HasMoreTapsThanResults(a, out) && ResultsOf(a, out) <= kMostResults &&
         input.dim(static_cast<int>(a.dims.input_feature)) >= 8;
}

class ConvolutionCanonicalizer {
 public:
  explicit ConvolutionCanonicalizer(Instruction* convolution)
      : convolution_(convolution),
        b_(convolution->parent()),
        parts_(ConvolutionParts::Of(*convolution)) {
    b_.set_metadata(convolution->shared_metadata());
  }

  // The value that stands for the convolution, or null: it is canonical.
  Instruction* Run() {
    if (IsCanonical()) return nullptr;
    FoldIntoWindow(&parts_);
    Group();
    const ConvDims from = parts_.attrs.dims;
    const int spatial = static_cast<int>(from.input_spatial.size());
    // Result dimension d of the canonical form is this one of the old form.
    DimVector in, kernel, out;
    ConvDims dims;
    for (int s = 0; s < spatial; ++s) {
      in.push_back(from.input_spatial[s]);
      kernel.push_back(from.kernel_spatial[s]);
      out.push_back(from.output_spatial[s]);
      dims.input_spatial.push_back(s);
      dims.kernel_spatial.push_back(s);
      dims.output_spatial.push_back(s);
    }
    // The kernel's features stay in their order where the arrays take both. A
    // gradient of weights contracts its batch where the forward pass has it.
    const bool depthwise = parts_.attrs.feature_group_count > 1;
    const bool gradient = !depthwise && IsGradient();
    const bool io = gradient || depthwise || WantsRowsOfInputs() ||
                    from.kernel_input_feature < from.kernel_output_feature;
    const auto append = [](DimVector* dims, int64_t a, int64_t b, bool swap) {
      dims->push_back(swap ? b : a);
      dims->push_back(swap ? a : b);
    };
    append(&in, from.input_batch, from.input_feature, gradient);
    append(&out, from.output_batch, from.output_feature, gradient);
    append(&kernel, from.kernel_input_feature, from.kernel_output_feature, !io);
    dims.input_batch = dims.output_batch = gradient ? spatial + 1 : spatial;
    dims.input_feature = dims.output_feature = gradient ? spatial : spatial + 1;
    dims.kernel_input_feature = io ? spatial : spatial + 1;
    dims.kernel_output_feature = io ? spatial + 1 : spatial;
    parts_.attrs.dims = dims;
    RoundBeforeMoving(in);
    Instruction* conv = b_.computation()->Add(
        Opcode::kConvolution,
        Shape::Array(convolution_->shape().type(),
                     Permuted(parts_.result, out)),
        {Transposed(parts_.x, in), Transposed(parts_.w, kernel)}, parts_.attrs,
        {}, convolution_->name());
    conv->set_metadata(convolution_->shared_metadata());
    if (batch_groups_ > 1) return KeepGroups(conv, out);
    Instruction* value = Transposed(conv, Inverse(out));
    return value->shape().SameDims(convolution_->shape())
               ? value
               : b_.Reshape(value, convolution_->shape().dims());
  }

 private:
  bool IsCanonical() const {
    const ConvDims& d = parts_.attrs.dims;
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
    const bool forward =
        d.input_feature == spatial + 1 && d.output_feature == spatial + 1 &&
        !(parts_.attrs.feature_group_count == 1 && IsGradient() &&
          parts_.x->shape().dims().back() < kLanes);
    const bool one_group =
        parts_.attrs.feature_group_count == 1 ||
        (IsDepthwise() && forward && d.kernel_input_feature == spatial);
    const bool io = !WantsRowsOfInputs() || d.kernel_input_feature == spatial;
    return (gradient || (forward && io)) && one_group &&
           parts_.attrs.batch_group_count == 1 &&
           parts_.w->opcode() != Opcode::kReverse && !FoldsPad(parts_);
  }

  // Taps whose features share tiles (convolutions/tap_packing.h) are put
  // together as rows; lanes would go through the XLU in every step. Weights
  // that are fewer than the input are turned before, and those of features that
  // fill no rows of a tile: in the lanes they are mostly padding.
  bool WantsRowsOfInputs() const {
    const auto feature = static_cast<int>(parts_.attrs.dims.input_feature);
    const int64_t features = parts_.x->shape().dim(feature);
    return parts_.attrs.feature_group_count == 1 && features < kLanes &&
           (features < kTileRows || parts_.w->shape().ElementCount() <=
                                        parts_.x->shape().ElementCount());
  }

  bool IsGradient() const {
    return hlo::IsGradient(parts_.attrs, parts_.x->shape(), parts_.result);
  }

  // A parameter of few features that is moved is moved as bf16, to which the
  // arrays round it anyway; so does the TPU compiler (the image before the
  // first layer). Its planes pad many times over.
  void RoundBeforeMoving(const DimVector& order) {
    if (parts_.x->opcode() != Opcode::kParameter || IsIdentityMapping(order) ||
        parts_.x->shape().type() != PrimitiveType::kF32 ||
        parts_.attrs.precision.operand(0) != Precision::kDefault ||
        parts_.x->shape().dim(static_cast<int>(order.back())) > kFewFeatures) {
      return;
    }
    parts_.x = b_.Convert(parts_.x, PrimitiveType::kBf16);
  }

  Instruction* Transposed(Instruction* value, const DimVector& permutation) {
    return IsIdentityMapping(permutation) ? value
                                          : b_.Transpose(value, permutation);
  }

  // As many groups as features, in and out: work of the vector units
  // (lowering/pooling). Of f32 that fill one column of tiles the arrays are as
  // soon done, from bf16.
  bool IsDepthwise() const {
    const auto spatial = parts_.attrs.dims.input_spatial.size();
    const auto size = [&](int64_t dim) {
      return parts_.w->shape().dim(static_cast<int>(dim));
    };
    const PrimitiveType type = convolution_->shape().type();
    bool plain = parts_.attrs.feature_group_count > 1 &&
                 parts_.attrs.batch_group_count == 1 && spatial >= 1 &&
                 static_cast<int>(spatial) <= kMostWindowPlanes &&
                 size(parts_.attrs.dims.kernel_input_feature) == 1 &&
                 size(parts_.attrs.dims.kernel_output_feature) ==
                     parts_.attrs.feature_group_count &&
                 (type == PrimitiveType::kBf16 ||
                  (type == PrimitiveType::kF32 &&
                   parts_.attrs.feature_group_count > kLanes)) &&
                 parts_.x->shape().type() == type &&
                 parts_.w->shape().type() == type;
    for (const WindowDim& w : parts_.attrs.window.dims) {
      plain &= w.base_dilation == 1;
    }
    return plain;
  }

  void Group() {
    const ConvDims& d = parts_.attrs.dims;
    if (parts_.attrs.feature_group_count > 1 && !IsDepthwise()) {
      const int64_t groups = std::exchange(parts_.attrs.feature_group_count, 1);
      if (MayHavePlanes() &&
          FillPlanes(SizeOf(*parts_.w, d.kernel_input_feature),
                     SizeOfResults(groups))) {
        AsPlanes(groups, d.input_feature);
      } else {
        ExpandKernel(groups);
      }
    }
    if (parts_.attrs.batch_group_count > 1) {
      const int64_t groups = std::exchange(parts_.attrs.batch_group_count, 1);
      if (MayHavePlanes() &&
          FillPlanes(SizeOf(*parts_.x, d.input_batch) / groups,
                     SizeOfResults(groups),
                     SizeOf(*parts_.x, d.input_feature))) {
        AsPlanes(groups, d.input_batch);
      } else {
        batch_groups_ = groups;
        parts_.result[d.output_batch] *= groups;
      }
    }
  }

  int64_t SizeOfResults(int64_t groups) const {
    return SizeOf(*parts_.w, parts_.attrs.dims.kernel_output_feature) / groups;
  }
  bool MayHavePlanes() const {
    return static_cast<int>(parts_.attrs.dims.input_spatial.size()) <
           kMostWindowPlanes;
  }

  void AsPlanes(int64_t groups, int64_t of) {
    MakePlanesOfGroups(&b_, groups, of, &parts_);
  }

  // The dense kernel, its taps outside and its inputs in rows.
  void ExpandKernel(int64_t groups) {
    ConvDims& d = parts_.attrs.dims;
    DimVector order(d.kernel_spatial.begin(), d.kernel_spatial.end());
    order.push_back(d.kernel_input_feature);
    order.push_back(d.kernel_output_feature);
    parts_.w = DenseKernel(&b_, Transposed(parts_.w, order), groups);
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
  Builder b_;
  ConvolutionParts parts_;  // in the old order of dimensions
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

absl::StatusOr<bool> ConvolutionCanonicalizerPass::Run(Module* module,
                                                       const PassContext&) {
  if (module->config().is_scheduled) return false;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    for (Instruction* i : c->PostOrder()) {
      if (i->opcode() != Opcode::kConvolution) continue;
      Instruction* value = OnArrayTypes(i);
      if (value == nullptr) value = GroupsOfAxis(i);
      if (value == nullptr) {
        value = IsGradientOfDepthwise(*i) ? DepthwiseGradient(i)
                                          : ConvolutionCanonicalizer(i).Run();
      }
      if (value == nullptr) continue;
      c->Replace(i, value);
      changed = true;
    }
    if (changed) c->RemoveDead();
  }
  return changed;
}

}  // namespace ptxla::hlo
