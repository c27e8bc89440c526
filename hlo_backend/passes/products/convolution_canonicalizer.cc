#include "hlo_backend/passes/products/convolution_canonicalizer.h"

#include <algorithm>
#include <utility>

#include "hlo_backend/analysis/plane_windows.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/products/convolution_types.h"

namespace ptxla::hlo {
namespace {

// A gradient's sums for all of its planes are in VMEM at once.
constexpr int64_t kMostResults = 64;
constexpr int64_t kLanes = 128;
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
    DimVector back(out.size(), 0);
    for (size_t d = 0; d < out.size(); ++d) {
      back[out[d]] = static_cast<int64_t>(d);
    }
    return KeepGroups(Transposed(conv, back));
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
  // (lowering/pooling).
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
        type == PrimitiveType::kBf16 && x_->shape().type() == type &&
        w_->shape().type() == type;
    for (const WindowDim& w : attrs_.window.dims) {
      plain &= w.base_dilation == 1;
    }
    return plain;
  }

  void Group() {
    if (attrs_.feature_group_count > 1 && !IsDepthwise()) {
      const int64_t groups = std::exchange(attrs_.feature_group_count, 1);
      const ConvDims& d = attrs_.dims;
      if (FillLanes(SizeOf(w_, d.kernel_input_feature), groups)) {
        MakeSpatial(groups, d.input_feature);
      } else {
        ExpandKernel(groups);
      }
    }
    if (attrs_.batch_group_count > 1) {
      const int64_t groups = std::exchange(attrs_.batch_group_count, 1);
      const ConvDims& d = attrs_.dims;
      if (SizeOf(x_, d.input_feature) % 8 == 0 &&
          FillLanes(SizeOf(x_, d.input_batch) / groups, groups)) {
        MakeSpatial(groups, d.input_batch);
      } else {
        batch_groups_ = groups;
        shape_[d.output_batch] *= groups;
      }
    }
  }

  static int64_t SizeOf(const Instruction* value, int64_t dim) {
    return value->shape().dim(static_cast<int>(dim));
  }

  // A group with `inputs` and its features of the result leaves neither lanes
  // nor rows of weights empty.
  bool FillLanes(int64_t inputs, int64_t groups) const {
    const ConvDims& d = attrs_.dims;
    return static_cast<int>(d.input_spatial.size()) < kMostWindowPlanes &&
           inputs >= kLanes &&
           SizeOf(w_, d.kernel_output_feature) / groups >= kLanes;
  }

  // Dimension `at` becomes two, the outer one of `groups`: where others are
  // then.
  static DimVector Split(DimVector dims, int64_t at, int64_t groups) {
    dims.insert(dims.begin() + at, groups);
    dims[at + 1] /= groups;
    return dims;
  }
  static void Shift(int64_t at, DimVector* spatial,
                    const std::vector<int64_t*>& features) {
    for (int64_t& s : *spatial) s += s > at;
    for (int64_t* f : features) *f += *f >= at;
    spatial->insert(spatial->begin(), at);
  }

  // Groups are places of a window as wide as they are, which sees one of them
  // at each of its places: those of the base lie `groups` apart, those of the
  // window one less. They are the outermost planes. `of`: the dimension of the
  // input that they part.
  void MakeSpatial(int64_t groups, int64_t of) {
    ConvDims& d = attrs_.dims;
    const auto split = [&](Instruction* value, int64_t at) {
      return b_.Reshape(value, Split(value->shape().dims(), at, groups));
    };
    x_ = split(x_, of);
    w_ = split(w_, d.kernel_output_feature);
    shape_ = Split(shape_, d.output_feature, groups);
    Shift(of, &d.input_spatial, {&d.input_batch, &d.input_feature});
    Shift(d.kernel_output_feature, &d.kernel_spatial,
          {&d.kernel_input_feature, &d.kernel_output_feature});
    Shift(d.output_feature, &d.output_spatial,
          {&d.output_batch, &d.output_feature});
    WindowDim window;
    window.size = window.base_dilation = groups;
    window.stride = groups - 1;
    attrs_.window.dims.insert(attrs_.window.dims.begin(), window);
  }

  // True where indices of the two dimensions agree.
  Instruction* Agree(const DimVector& dims, int64_t a, int64_t b) {
    const Shape index = Shape::Array(PrimitiveType::kS32, dims);
    return b_.Compare(b_.Iota(index, a), b_.Iota(index, b),
                      CompareDirection::kEq);
  }
  Instruction* KeepWhere(Instruction* mask, Instruction* value) {
    return b_.Select(mask, value,
                     b_.BroadcastScalar(b_.Zero(value->shape().type()),
                                        value->shape().dims()));
  }

  // [.. I/G .. O ..] to [.. I .. O ..], zero where the groups differ.
  void ExpandKernel(int64_t groups) {
    const ConvDims& d = attrs_.dims;
    DimVector wide, from, result;
    int64_t of_input = -1, of_output = -1;
    for (int64_t n = 0; n < w_->shape().rank(); ++n) {
      const int64_t size = w_->shape().dim(static_cast<int>(n));
      const auto at = static_cast<int64_t>(wide.size());
      if (n == d.kernel_input_feature) {
        of_input = at;
        wide.push_back(groups);
        wide.push_back(size);
        from.push_back(at + 1);
        result.push_back(groups * size);
      } else if (n == d.kernel_output_feature) {
        of_output = at;
        wide.push_back(groups);
        wide.push_back(size / groups);
        from.push_back(at);
        from.push_back(at + 1);
        result.push_back(size);
      } else {
        wide.push_back(size);
        from.push_back(at);
        result.push_back(size);
      }
    }
    DimVector split;
    for (int64_t n : from) split.push_back(wide[n]);
    Instruction* all = b_.Broadcast(b_.Reshape(w_, split), wide, from);
    w_ = b_.Reshape(KeepWhere(Agree(wide, of_input, of_output), all), result);
  }

  // Of a dense result [.. N .. O ..] the part of each group.
  Instruction* KeepGroups(Instruction* dense) {
    const int64_t groups = batch_groups_;
    if (groups == 1) {
      return dense->shape().SameDims(convolution_->shape())
                 ? dense
                 : b_.Reshape(dense, convolution_->shape().dims());
    }
    const ConvDims& d = convolution_->attrs<ConvAttrs>().dims;
    DimVector wide;
    int64_t of_batch = -1, of_output = -1;
    for (int64_t n = 0; n < dense->shape().rank(); ++n) {
      const int64_t size = dense->shape().dim(static_cast<int>(n));
      if (n == d.output_batch || n == d.output_feature) {
        (n == d.output_batch ? of_batch : of_output) =
            static_cast<int64_t>(wide.size());
        wide.push_back(groups);
        wide.push_back(size / groups);
      } else {
        wide.push_back(size);
      }
    }
    Instruction* parts =
        KeepWhere(Agree(wide, of_batch, of_output), b_.Reshape(dense, wide));
    const PrimitiveType type = dense->shape().type();
    Instruction* sum = b_.Reduce(parts, b_.Zero(type), {of_batch},
                                 b_.Scalar2(Opcode::kAdd, type));
    return b_.Reshape(sum, convolution_->shape().dims());
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

absl::StatusOr<bool> ConvolutionCanonicalizerPass::Run(Module* module,
                                                       const PassContext&) {
  if (module->config().is_scheduled) return false;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    for (Instruction* i : c->PostOrder()) {
      if (i->opcode() != Opcode::kConvolution) continue;
      Instruction* value = OnArrayTypes(i);
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
