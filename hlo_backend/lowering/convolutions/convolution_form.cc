#include "hlo_backend/lowering/convolutions/convolution_form.h"

#include <utility>

#include "absl/status/status.h"
#include "base/status.h"
#include "hlo_backend/analysis/cost_analysis.h"
#include "hlo_backend/analysis/turned_input.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/lowering/refusals.h"

namespace ptxla::lowering {
namespace {

using hlo::Instruction;
using hlo::PrimitiveType;

// Windows have five dimensions, two of which are rows and lanes.
constexpr size_t kMostAxes = 3;

// The number of the spatial dimension `d`, or -1.
int SpatialOf(const hlo::DimVector& spatial, int64_t d) {
  for (size_t s = 0; s < spatial.size(); ++s) {
    if (spatial[s] == d) return static_cast<int>(s);
  }
  return -1;
}

struct Operand {
  const hlo::Shape* shape = nullptr;  // as the kernel sees it
  int arg = 0;
  const hlo::Shape* turned = nullptr;     // in memory, if that is another
  const Instruction* computed = nullptr;  // inside of the fusion
};

// Where the operand comes from, behind conversions: the MXU rounds to bf16
// anyway.
absl::StatusOr<Operand> SourceOf(const Instruction& instruction,
                                 const Instruction& conv, int o) {
  const Instruction* source = conv.operand(o);
  Operand result;
  if (&instruction == &conv) {
    result.arg = o == 1 && source == conv.operand(0) ? 0 : o;
  } else {
    while (source->opcode() == hlo::Opcode::kConvert)
      source = source->operand(0);
    if (o == 0) {
      const hlo::ConvolutionSource input = hlo::InputSource(conv);
      source = input.value;
      if (input.turned) result.turned = &input.value->shape();
    }
    if (source->opcode() == hlo::Opcode::kParameter) {
      result.arg = static_cast<int>(source->parameter_number());
    } else {
      result.computed = conv.operand(o);
    }
  }
  result.shape = result.turned != nullptr || result.computed != nullptr
                     ? &conv.operand(o)->shape()
                     : &source->shape();
  const PrimitiveType type = result.shape->type();
  if (type != PrimitiveType::kF32 && type != PrimitiveType::kBf16) {
    return NotLowered(conv, "an operand type other than f32 and bf16");
  }
  return result;
}

absl::Status CheckAttributes(const Instruction& conv) {
  const hlo::ConvAttrs& a = conv.attrs<hlo::ConvAttrs>();
  if (a.feature_group_count != 1 || a.batch_group_count != 1) {
    return NotLowered(conv, "a grouped convolution here");
  }
  if (!a.sparsity.empty()) return NotLowered(conv, "sparsity");
  for (int o = 0; o < 2; ++o) {
    if (a.precision.operand(o) != hlo::Precision::kDefault &&
        conv.operand(o)->shape().type() == PrimitiveType::kF32) {
      return NotLowered(conv, "precision above default");
    }
  }
  const PrimitiveType type = conv.shape().type();
  if (type != PrimitiveType::kF32 && type != PrimitiveType::kBf16) {
    return NotLowered(conv, "a result type other than f32 and bf16");
  }
  if (a.window.dims.size() > kMostAxes) {
    return NotLowered(conv, "more than three spatial dimensions");
  }
  if (conv.shape().ElementCount() == 0 ||
      conv.operand(0)->shape().ElementCount() == 0 ||
      conv.operand(1)->shape().ElementCount() == 0) {
    return NotLowered(conv, "an empty array");
  }
  return absl::OkStatus();
}

// The axis of a gradient whose operands have changed places.
void Exchange(WindowAxis* a) {
  std::swap(a->in, a->taps);
  std::swap(a->in_pitch, a->tap_pitch);
  a->padding = a->out - 1 - a->padding;
}

}  // namespace

absl::StatusOr<ConvolutionForm> ConvolutionForm::Of(
    const Instruction& instruction) {
  ConvolutionForm f;
  f.convolution = &instruction;
  if (instruction.opcode() == hlo::Opcode::kFusion) {
    for (const Instruction* i : instruction.fused()->instructions()) {
      if (i->opcode() == hlo::Opcode::kConvolution) f.convolution = i;
    }
  }
  const Instruction& conv = *f.convolution;
  RETURN_IF_ERROR(CheckAttributes(conv));
  const hlo::ConvAttrs& attrs = conv.attrs<hlo::ConvAttrs>();
  const hlo::ConvDims& d = attrs.dims;
  ASSIGN_OR_RETURN(const Operand lhs, SourceOf(instruction, conv, 0));
  ASSIGN_OR_RETURN(const Operand rhs, SourceOf(instruction, conv, 1));
  ASSIGN_OR_RETURN(const PhysicalArray in, PhysicalArray::Of(*lhs.shape));
  ASSIGN_OR_RETURN(const PhysicalArray weights, PhysicalArray::Of(*rhs.shape));
  ASSIGN_OR_RETURN(const PhysicalArray out, PhysicalArray::Of(conv.shape()));
  const int rank = out.rank();
  const auto is = [rank](const PhysicalArray& a, int64_t rows, int64_t lanes) {
    return a.dims[rank - 2] == rows && a.dims[rank - 1] == lanes;
  };
  const bool contracts =
      is(in, d.input_feature, d.input_batch) &&
      is(weights, d.kernel_input_feature, d.kernel_output_feature);
  f.mirrored = contracts && is(out, d.output_batch, d.output_feature);
  f.gradient =
      f.mirrored || (contracts && is(out, d.output_feature, d.output_batch));
  if (!f.gradient && (!is(in, d.input_batch, d.input_feature) ||
                      !is(out, d.output_batch, d.output_feature))) {
    return NotLowered(conv,
                      "a layout without batch in rows and features in lanes");
  }
  // What a gradient's product has in its rows may be computed.
  const Operand& other = f.mirrored ? rhs : lhs;
  if (other.computed != nullptr || (!f.gradient && rhs.computed != nullptr)) {
    return NotLowered(conv, "a prologue of more than conversions");
  }
  f.rows = in.sizes[rank - 2];
  const bool computes = (f.mirrored ? lhs : rhs).computed != nullptr;
  if (f.gradient && (f.rows < 8 || (computes && f.rows % 8 != 0))) {
    return NotLowered(conv, "a contracted batch of part of a tile");
  }
  const int64_t w_minor = weights.dims[rank - 1];
  const int64_t w_second = weights.dims[rank - 2];
  const bool plain =
      w_second == d.kernel_input_feature && w_minor == d.kernel_output_feature;
  const bool transposed =
      w_second == d.kernel_output_feature && w_minor == d.kernel_input_feature;
  if (!plain && !transposed) {
    return NotLowered(conv, "a layout of weights with features outside");
  }
  for (int p = 0; p + 2 < rank; ++p) {
    const int s = SpatialOf(d.output_spatial, out.dims[p]);
    if (s != SpatialOf(d.input_spatial, in.dims[p])) {
      return NotLowered(conv, "a layout with another order of planes");
    }
    const hlo::WindowDim& w = attrs.window.dims[s];
    WindowAxis a;
    a.in = in.sizes[p];
    a.out = out.sizes[p];
    a.taps = w.size;
    a.stride = w.stride;
    a.padding = w.padding_low;
    a.base_dilation = w.base_dilation;
    a.window_dilation = w.window_dilation;
    a.reversal = w.reversal;
    a.in_pitch = in.PlanePitch(p);
    for (int q = 0; q + 2 < rank; ++q) {
      if (weights.dims[q] != d.kernel_spatial[s]) continue;
      a.tap_pitch = weights.PlanePitch(q);
      if (f.gradient && q != p) {
        return NotLowered(conv, "a layout with another order of planes");
      }
    }
    if (f.mirrored) {
      if (a.stride != 1 || a.base_dilation != 1 || a.window_dilation != 1 ||
          a.reversal) {
        return NotLowered(conv,
                          "a gradient with steps and features of the input "
                          "in rows");
      }
      Exchange(&a);
    }
    f.axes.push_back(a);
  }
  if (lhs.turned != nullptr) {
    if (f.gradient)
      return NotLowered(conv, "a gradient's input that is turned");
    ASSIGN_OR_RETURN(const PhysicalArray raw, PhysicalArray::Of(*lhs.turned));
    ASSIGN_OR_RETURN(f.turned, MatrixView::Of(*lhs.turned));
    if (f.turned->resident) {
      return NotLowered(conv, "an input in VMEM that is turned");
    }
    f.batch_pitch = raw.PlanePitch(0);
    // The last axis lies in rows of tiles.
    for (int p = 0; p + 3 < rank; ++p) {
      f.axes[p].in_pitch = raw.PlanePitch(p + 1);
    }
  }
  ProductForm& form = f.product;
  form.dot = &conv;
  ASSIGN_OR_RETURN(form.lhs, MatrixView::Of(*lhs.shape));
  ASSIGN_OR_RETURN(form.rhs, MatrixView::Of(*rhs.shape));
  ASSIGN_OR_RETURN(form.out, MatrixView::Of(conv.shape()));
  form.lhs_arg = lhs.arg;
  form.rhs_arg = rhs.arg;
  ProductProblem& p = form.problem;
  f.flops = static_cast<int64_t>(2 * hlo::ConvolutionMultiplyAdds(conv));
  if (f.gradient) {
    form.lhs_value = (f.mirrored ? lhs : rhs).computed;
    if (!f.mirrored) {
      std::swap(form.lhs, form.rhs);
      std::swap(form.lhs_arg, form.rhs_arg);
    }
    if (form.lhs_value != nullptr) form.lhs.resident = false;
    p.batch = form.out.planes;
    p.m = form.out.rows;
    p.n = form.out.columns;
    p.k = form.lhs.planes * f.RowTiles() * 8;
    p.lhs = {form.lhs.type, false, form.lhs.resident};
    p.rhs = {form.rhs.type, false, form.rhs.resident};
    return f;
  }
  p.m = form.out.planes * f.RowTiles() * 8;
  p.n = form.out.columns;
  p.k = form.lhs.columns;
  p.lhs = {form.lhs.type, false, form.lhs.resident};
  p.rhs = {form.rhs.type, transposed, form.rhs.resident};
  return f;
}

}  // namespace ptxla::lowering
