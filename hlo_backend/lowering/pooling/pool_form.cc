#include "hlo_backend/lowering/pooling/pool_form.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/analysis/plane_windows.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/lowering/physical_array.h"
#include "isa/kernel.h"

namespace ptxla::lowering {
namespace {

using hlo::Instruction;

// Windows of kernels have five dimensions, one of which is the content.
constexpr int kMostAxes = hlo::kMostWindowPlanes;
static_assert(kMostAxes < isa::kMaxWindowDims);

absl::Status Refuse(const Instruction& i, absl::string_view what) {
  return absl::UnimplementedError(absl::StrCat("%", i.name(), " (",
                                               hlo::OpcodeName(i.opcode()),
                                               "): ", what, " is not lowered"));
}

}  // namespace

int64_t PoolForm::Registers() const {
  return CeilOfRatio<int64_t>(units * unit_bytes, isa::kVregBytes);
}

absl::StatusOr<PoolForm> PoolForm::Of(const Instruction& i) {
  PoolForm f;
  f.instruction = &i;
  const bool scatters = i.opcode() == hlo::Opcode::kSelectAndScatter;
  if (!hlo::IsSimpleWindow(i)) {
    return Refuse(i, "its type or body, or a window over several arrays,");
  }
  f.op = *hlo::MonoidOf(scatters ? *i.scatter() : *i.to_apply());
  const hlo::Shape& operand = i.operand(0)->shape();
  f.type = operand.type();
  if (!hlo::IsScalarConstant(*i.operand(scatters ? 2 : 1),
                             *hlo::WindowIdentity(f.op, f.type))) {
    return Refuse(i, "an initial value that is not the operation's identity");
  }
  const hlo::Shape& windows = scatters ? i.operand(1)->shape() : i.shape();
  if (operand.rank() < 3 || operand.ElementCount() == 0 ||
      windows.ElementCount() == 0) {
    return Refuse(i, "an array without planes");
  }
  ASSIGN_OR_RETURN(const PhysicalArray in, PhysicalArray::Of(operand));
  ASSIGN_OR_RETURN(const PhysicalArray out, PhysicalArray::Of(windows));
  if (in.dims != out.dims || in.tile_rows != out.tile_rows ||
      in.type != out.type) {
    return Refuse(i, "a layout other than its operand's");
  }
  const hlo::Window& window = i.attrs<hlo::WindowAttrs>().window;
  int last = -1;
  for (int p = 0; p < in.rank(); ++p) {
    if (!hlo::IsIdentity(window.dims[in.dims[p]])) last = p;
  }
  if (last >= in.rank() - 2) return Refuse(i, "a window over rows or lanes");
  if (last >= kMostAxes) return Refuse(i, "so many planes");
  for (int p = 0; p <= last; ++p) {
    const hlo::WindowDim& w = window.dims[in.dims[p]];
    if (w.base_dilation != 1 && scatters) {
      return Refuse(i, "a window over a dilated array");
    }
    WindowAxis a;
    a.base_dilation = w.base_dilation;
    a.in = in.sizes[p];
    a.out = out.sizes[p];
    a.taps = w.size;
    a.stride = w.stride;
    a.padding = w.padding_low;
    a.window_dilation = w.window_dilation;
    a.in_pitch = in.PlanePitch(p);
    a.tap_pitch = out.PlanePitch(p);
    f.axes.push_back(a);
    const bool earlier = w.padding_low == a.in - 1 && w.padding_high == 0;
    const bool later = w.padding_high == a.in - 1 && w.padding_low == 0;
    if (!scatters && a.taps == a.in && a.in > 1 && a.stride == 1 &&
        a.window_dilation == 1 && a.base_dilation == 1 && (earlier || later)) {
      f.cumulative = p;
      f.from_end = later;
    }
  }
  if (f.axes.empty()) f.axes.emplace_back();
  for (int p = 0; f.cumulative >= 0 && p <= last; ++p) {
    if (p != f.cumulative && !hlo::IsIdentity(window.dims[in.dims[p]])) {
      f.cumulative = -1;
    }
  }
  // Content is cut between its own planes, or between rows of tiles.
  f.units = 1;
  for (int p = last + 1; p < in.rank() - 2; ++p) f.units *= in.sizes[p];
  f.units *= in.tiles_down;
  f.unit_bytes = in.row_stride();
  return f;
}

absl::StatusOr<PoolForm> PoolForm::OfDepthwise(const Instruction& conv) {
  PoolForm f;
  f.instruction = &conv;
  f.weighted = true;
  f.op = hlo::Opcode::kAdd;
  f.type = conv.shape().type();
  const hlo::ConvAttrs& attrs = conv.attrs<hlo::ConvAttrs>();
  const hlo::ConvDims& d = attrs.dims;
  ASSIGN_OR_RETURN(const PhysicalArray in,
                   PhysicalArray::Of(conv.operand(0)->shape()));
  ASSIGN_OR_RETURN(const PhysicalArray out, PhysicalArray::Of(conv.shape()));
  const int spatial = in.rank() - 2;
  bool plain =
      in.type == out.type && in.type == conv.operand(1)->shape().type() &&
      in.dims == out.dims && in.tile_rows == out.tile_rows && spatial >= 1 &&
      spatial <= kMostAxes && hlo::WindowIdentity(f.op, f.type).has_value() &&
      hlo::IsFloat(f.type) && conv.shape().ElementCount() > 0 &&
      conv.operand(0)->shape().ElementCount() > 0;
  for (int p = 0; p < in.rank(); ++p) plain &= in.dims[p] == p;
  plain &= d.input_batch == spatial && d.output_batch == spatial;
  for (int s = 0; s < spatial && plain; ++s) {
    plain &= d.input_spatial[s] == s && d.output_spatial[s] == s &&
             d.kernel_spatial[s] == s &&
             attrs.window.dims[s].base_dilation == 1;
  }
  if (!plain) return Refuse(conv, "this depthwise form");
  for (int p = 0; p < spatial; ++p) {
    const hlo::WindowDim& w = attrs.window.dims[p];
    WindowAxis a;
    a.in = in.sizes[p];
    a.out = out.sizes[p];
    a.taps = w.size;
    a.stride = w.stride;
    a.padding = w.padding_low;
    a.window_dilation = w.window_dilation;
    a.reversal = w.reversal;
    a.in_pitch = in.PlanePitch(p);
    a.tap_pitch = out.PlanePitch(p);
    f.axes.push_back(a);
  }
  f.units = in.tiles_down;
  f.unit_bytes = in.row_stride();
  return f;
}

absl::StatusOr<PoolForm> PoolForm::OfDepthwiseGradient(
    const Instruction& conv) {
  PoolForm f;
  f.instruction = &conv;
  f.op = hlo::Opcode::kAdd;
  const hlo::ConvAttrs& attrs = conv.attrs<hlo::ConvAttrs>();
  const hlo::ConvDims& d = attrs.dims;
  ASSIGN_OR_RETURN(const PhysicalArray x,
                   PhysicalArray::Of(conv.operand(0)->shape()));
  ASSIGN_OR_RETURN(const PhysicalArray dy,
                   PhysicalArray::Of(conv.operand(1)->shape()));
  ASSIGN_OR_RETURN(const PhysicalArray dw, PhysicalArray::Of(conv.shape()));
  const int spatial = x.rank() - 2;
  f.type = x.type;
  bool plain = spatial >= 1 && spatial <= kMostAxes && x.type == dy.type &&
               x.tile_rows == 8 && dy.tile_rows == 8 && x.rows % 8 == 0 &&
               x.rows == dy.rows && x.columns == dy.columns && dw.rows == 1 &&
               dw.columns == x.columns && hlo::IsFloat(x.type) &&
               hlo::WindowIdentity(f.op, x.type).has_value() &&
               hlo::WindowIdentity(f.op, dw.type).has_value() &&
               attrs.batch_group_count == x.columns;
  for (const PhysicalArray* array : {&x, &dy, &dw}) {
    for (int p = 0; p < array->rank(); ++p) plain &= array->dims[p] == p;
  }
  plain &= d.input_feature == spatial && d.kernel_input_feature == spatial &&
           d.output_batch == spatial;
  for (int s = 0; s < spatial && plain; ++s) {
    const hlo::WindowDim& w = attrs.window.dims[s];
    plain &= d.input_spatial[s] == s && d.output_spatial[s] == s &&
             d.kernel_spatial[s] == s && w.base_dilation == 1 && !w.reversal;
  }
  if (!plain) return Refuse(conv, "this gradient of depthwise weights");
  for (int p = 0; p < spatial; ++p) {
    const hlo::WindowDim& w = attrs.window.dims[p];
    WindowAxis a;
    a.in = x.sizes[p];
    a.out = dy.sizes[p];
    a.taps = dw.sizes[p];
    a.stride = w.window_dilation;
    a.window_dilation = w.stride;
    a.padding = w.padding_low;
    a.in_pitch = x.PlanePitch(p);
    a.tap_pitch = dy.PlanePitch(p);
    f.axes.push_back(a);
  }
  f.units = x.tiles_down;
  f.unit_bytes = x.row_stride();
  return f;
}

}  // namespace ptxla::lowering
