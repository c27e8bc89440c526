#include "hlo_backend/passes/layout/lane_convolution.h"

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "chips/compiler_policy.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/products/convolution_canonicalizer.h"
#include "hlo_backend/passes/products/size_of.h"

namespace ptxla::hlo {
namespace {

int64_t Bytes(const Instruction& value) {
  return BitWidth(value.shape().type()) / 8;
}

bool IsReversed(const Instruction& i) {
  const auto& dims = i.attrs<ConvAttrs>().window.dims;
  return std::any_of(dims.begin(), dims.end(),
                     [](const WindowDim& d) { return d.reversal; });
}

// Rows and lanes change places.
Instruction* Swapped(Builder* b, Instruction* value) {
  return b->Transpose(value, LastTwoSwapped(value->shape().rank()));
}

// With zeros behind it, up to whole tiles of rows.
Instruction* Filled(Builder* b, Instruction* value, int64_t dim) {
  const int64_t missing =
      RoundUpTo(SizeOf(*value, dim), kTileRows) - SizeOf(*value, dim);
  if (missing == 0) return value;
  std::vector<PaddingDim> padding(value->shape().rank());
  padding[dim].high = missing;
  return b->Pad(value, b->ConstantScalar(value->shape().type(), 0), padding);
}

// The other array is reversed, not the window.
void ReverseTaps(Instruction* i) {
  Builder b(i->parent());
  b.set_metadata(i->shared_metadata());
  ConvAttrs attrs = i->attrs<ConvAttrs>();
  DimVector reversed;
  for (size_t s = 0; s < attrs.window.dims.size(); ++s) {
    if (!attrs.window.dims[s].reversal) continue;
    attrs.window.dims[s].reversal = false;
    reversed.push_back(attrs.dims.kernel_spatial[s]);
  }
  Instruction* turned =
      i->parent()->Add(Opcode::kConvolution, i->shape(),
                       {i->operand(0), b.Reverse(i->operand(1), reversed)},
                       attrs, {}, i->name());
  turned->set_metadata(i->shared_metadata());
  i->parent()->Replace(i, turned);
}

}  // namespace

std::optional<LaneConvolution> LaneConvolution::Of(Instruction* convolution) {
  const ConvAttrs& a = convolution->attrs<ConvAttrs>();
  const auto spatial = static_cast<int64_t>(a.dims.input_spatial.size());
  const int64_t both = 2 * spatial + 1;  // rows and lanes
  const bool slides =
      std::any_of(a.window.dims.begin(), a.window.dims.end(),
                  [](const WindowDim& d) { return d.size > 1; });
  if (!slides || a.feature_group_count != 1 || a.batch_group_count != 1 ||
      a.dims.input_batch + a.dims.input_feature != both ||
      a.dims.kernel_input_feature + a.dims.kernel_output_feature != both ||
      a.dims.output_feature != a.dims.input_feature) {
    return std::nullopt;
  }
  LaneConvolution c;
  c.convolution = convolution;
  c.gradient = HasMoreTapsThanResults(a, convolution->shape().dims());
  const bool features_in_rows = a.dims.input_feature == spatial;
  c.in_lanes = features_in_rows != c.gradient;
  const Instruction &x = *convolution->operand(0),
                    &w = *convolution->operand(1);
  c.batch = SizeOf(x, c.in_lanes ? spatial + 1 : spatial);
  c.in = SizeOf(x, c.in_lanes ? spatial : spatial + 1);
  c.out = SizeOf(w, a.dims.kernel_output_feature);
  return c;
}

bool LaneConvolution::FillsRows() const {
  return gradient || in % kTileRows == 0;
}

namespace {

// What the arrays of a step take with the batch in lanes: the lanes that are
// contracted lie whole, others in tiles.
struct StepBytes {
  const LaneConvolution& c;
  int64_t in_plane, other_plane;  // elements
  int64_t limit;

  StepBytes(const LaneConvolution& convolution, const chips::ChipSpec& chip)
      : c(convolution) {
    const int64_t lanes = c.gradient ? RoundUpTo(c.batch, kLanes) : kLanes;
    in_plane = RoundUpTo(c.in, kTileRows) * lanes;
    other_plane = RoundUpTo(c.out, kTileRows) * lanes;
    limit = static_cast<int64_t>(
        chips::CompilerPolicy(chip, "lane_convolution_vmem_share") *
        static_cast<double>(chip.vmem().scoped_limit.count()));
  }
  // Two slots of each array, and sums of a pass.
  bool Fits(int64_t met, int64_t made) const {
    const int64_t sums = c.gradient ? 0 : made * other_plane * 4;
    const int64_t in = c.rounded ? 2 : Bytes(*c.convolution->operand(0));
    const int64_t other = c.rounded ? 2 : Bytes(c.other());
    return sums + 2 * (met * in_plane * in + made * other_plane * other) <=
           limit;
  }
};

// Planes of the input that so many results next to one another meet.
int64_t PlanesMet(const WindowDim& w, int64_t results) {
  return ((results - 1) * w.stride + (w.size - 1) * w.window_dilation) /
             w.base_dilation +
         1;
}

// Bytes of all planes of the array, with these rows and lanes.
int64_t BytesOfAll(const Instruction& value, int64_t elements, int64_t rows,
                   int64_t lanes) {
  return value.shape().ElementCount() / elements * RoundUpTo(rows, kTileRows) *
         RoundUpTo(lanes, kLanes) * Bytes(value);
}

// The fewest bytes that a pass reads of its input in steps of a box of two
// axes, for 128 lanes; nothing if no box fits.
std::optional<int64_t> LeastRead(const StepBytes& step) {
  const Instruction &x = *step.c.convolution->operand(0), &y = step.c.other();
  const auto& dims = step.c.convolution->attrs<ConvAttrs>().window.dims;
  if (dims.size() < 2) return std::nullopt;
  int64_t met_inside = 1, made_inside = 1;
  for (size_t s = 2; s < dims.size(); ++s) {
    met_inside *= SizeOf(x, static_cast<int64_t>(s));
    made_inside *= SizeOf(y, static_cast<int64_t>(s));
  }
  std::optional<int64_t> least;
  for (int64_t outer = 1; outer <= SizeOf(y, 0); ++outer) {
    for (int64_t inner = 1; inner <= SizeOf(y, 1); ++inner) {
      const int64_t met =
          PlanesMet(dims[0], outer) * PlanesMet(dims[1], inner) * met_inside;
      if (!step.Fits(met, outer * inner * made_inside)) break;
      const int64_t read = CeilOfRatio(SizeOf(y, 0), outer) *
                           CeilOfRatio(SizeOf(y, 1), inner) * met *
                           step.in_plane * Bytes(x);
      if (!least.has_value() || read < *least) least = read;
    }
  }
  return least;
}

}  // namespace

// Steps of a pass cut the first axis, those of a gradient the taps of any.
// Where these are too much, steps of a pass are boxes: what they read several
// times must not be more than what rows take.
bool LaneConvolution::FitsLanes(const chips::ChipSpec& chip) const {
  const StepBytes step(*this, chip);
  const Instruction& i = *convolution;
  const ConvAttrs& a = i.attrs<ConvAttrs>();
  const int spatial = static_cast<int>(a.window.dims.size());
  const Instruction &x = *i.operand(0), &y = other();
  for (int cut = 0; cut < (gradient ? spatial : 1); ++cut) {
    if (gradient && a.window.dims[cut].reversal) continue;
    // Planes along it that a row of the result, or of taps, meets.
    int64_t met = gradient ? i.shape().dim(cut) : a.window.dims[cut].size;
    int64_t made = 1;
    for (int s = 0; s < spatial; ++s) {
      if (s == cut) continue;
      met *= x.shape().dim(s);
      made *= y.shape().dim(s);
    }
    if (step.Fits(met, made)) return true;
  }
  if (gradient) return false;
  const std::optional<int64_t> read = LeastRead(step);
  return read.has_value() && *read * CeilOfRatio(batch, kLanes) +
                                     BytesOfAll(y, batch * out, out, batch) <=
                                 BytesOfAll(x, batch * in, batch, in) +
                                     BytesOfAll(y, batch * out, batch, out);
}

bool LaneConvolution::MayBeRounded() const {
  const ConvAttrs& a = convolution->attrs<ConvAttrs>();
  for (int k = 0; k < 2; ++k) {
    if (convolution->operand(k)->shape().type() != PrimitiveType::kF32 ||
        a.precision.operand(k) != Precision::kDefault) {
      return false;
    }
  }
  return gradient && a.precision.algorithm == DotAlgorithm::kUnset;
}

void Turn(const LaneConvolution& c) {
  if (c.rounded) Round(c);
  Instruction* i = c.convolution;
  Computation* computation = i->parent();
  Builder b(computation);
  b.set_metadata(i->shared_metadata());
  ConvAttrs attrs = i->attrs<ConvAttrs>();
  ConvDims& d = attrs.dims;
  Instruction* w = i->operand(1);
  std::swap(d.input_batch, d.input_feature);
  std::swap(d.output_batch, d.output_feature);
  // A gradient contracts the dimension of both that has its batch.
  const bool rows = d.kernel_input_feature < d.kernel_output_feature;
  const bool wanted = !c.gradient || d.input_feature < d.input_batch;
  if (rows != wanted) {
    std::swap(d.kernel_input_feature, d.kernel_output_feature);
    w = Swapped(&b, w);
  }
  Shape shape = i->shape();
  const int rank = shape.rank();
  DimVector dims(shape.dims().begin(), shape.dims().end());
  std::swap(dims[rank - 2], dims[rank - 1]);
  Instruction* x = Swapped(&b, i->operand(0));
  if (!c.gradient && !c.in_lanes) {
    x = Filled(&b, x, d.input_feature);
    w = Filled(&b, w, d.kernel_input_feature);
  }
  Instruction* turned =
      computation->Add(Opcode::kConvolution, Shape::Array(shape.type(), dims),
                       {x, w}, attrs, {}, i->name());
  turned->set_metadata(i->shared_metadata());
  computation->Replace(i, Swapped(&b, turned));
}

void Round(const LaneConvolution& c) {
  Builder b(c.convolution->parent());
  b.set_metadata(c.convolution->shared_metadata());
  for (int k = 0; k < 2; ++k) {
    c.convolution->ReplaceOperand(
        k, b.Convert(c.convolution->operand(k), PrimitiveType::kBf16));
  }
}

void FillRows(const LaneConvolution& c) {
  Instruction* i = c.convolution;
  Builder b(i->parent());
  b.set_metadata(i->shared_metadata());
  const ConvAttrs& attrs = i->attrs<ConvAttrs>();
  Instruction* filled = i->parent()->Add(
      Opcode::kConvolution, i->shape(),
      {Filled(&b, i->operand(0), attrs.dims.input_feature),
       Filled(&b, i->operand(1), attrs.dims.kernel_input_feature)},
      attrs, {}, i->name());
  filled->set_metadata(i->shared_metadata());
  i->parent()->Replace(i, filled);
}

bool CanFit(const LaneConvolution& c) {
  return !c.gradient || IsReversed(*c.convolution);
}

void MakeFit(const LaneConvolution& c) {
  if (c.gradient) {
    ReverseTaps(c.convolution);
  } else {
    Turn(c);
  }
}

}  // namespace ptxla::hlo
