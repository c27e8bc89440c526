#include "hlo_backend/passes/products/convolution_parts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hlo_backend/analysis/plane_windows.h"
#include "hlo_backend/passes/dimension_utils.h"

namespace ptxla::hlo {
namespace {

void Through(const Instruction& transpose, int64_t* dim) {
  *dim = transpose.dimensions()[*dim];
}

bool IsZero(const Instruction& value) {
  return IsScalarConstant(
      value.opcode() == Opcode::kConvert ? *value.operand(0) : value, 0);
}

// `spatial`: dimensions of the pad that the window slides along.
bool IsFoldable(const Instruction& pad, const DimVector& spatial,
                const Window& window) {
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
    const WindowDim& w = window.dims[at - spatial.begin()];
    if (dims[d].interior != 0 && w.base_dilation != 1) return false;
    // What is cut off stays so where the window pads.
    if ((dims[d].low < 0 && w.padding_low > 0) ||
        (dims[d].high < 0 && w.padding_high > 0)) {
      return false;
    }
  }
  return true;
}

bool FoldPad(ConvolutionParts* p) {
  const DimVector& spatial = p->attrs.dims.input_spatial;
  if (!IsFoldable(*p->x, spatial, p->attrs.window)) return false;
  const auto& pad = p->x->attrs<PadAttrs>().dims;
  for (size_t s = 0; s < spatial.size(); ++s) {
    const auto& of = pad[spatial[s]];
    WindowDim& w = p->attrs.window.dims[s];
    w.padding_low += of.low * w.base_dilation;
    w.padding_high += of.high * w.base_dilation;
    w.base_dilation *= of.interior + 1;
  }
  p->x = p->x->operand(0);
  return true;
}

bool FoldInputTranspose(ConvolutionParts* p) {
  if (p->x->opcode() != Opcode::kTranspose) return false;
  ConvDims& d = p->attrs.dims;
  for (int64_t& s : d.input_spatial) Through(*p->x, &s);
  Through(*p->x, &d.input_batch);
  Through(*p->x, &d.input_feature);
  p->x = p->x->operand(0);
  return true;
}

bool FoldKernel(ConvolutionParts* p) {
  ConvDims& d = p->attrs.dims;
  if (p->w->opcode() == Opcode::kTranspose) {
    for (int64_t& s : d.kernel_spatial) Through(*p->w, &s);
    Through(*p->w, &d.kernel_input_feature);
    Through(*p->w, &d.kernel_output_feature);
  } else if (p->w->opcode() == Opcode::kReverse &&
             !Contains(p->w->dimensions(), d.kernel_input_feature) &&
             !Contains(p->w->dimensions(), d.kernel_output_feature)) {
    for (size_t s = 0; s < d.kernel_spatial.size(); ++s) {
      if (!Contains(p->w->dimensions(), d.kernel_spatial[s])) continue;
      bool& reversal = p->attrs.window.dims[s].reversal;
      reversal = !reversal;
    }
  } else {
    return false;
  }
  p->w = p->w->operand(0);
  return true;
}

}  // namespace

ConvolutionParts ConvolutionParts::Of(const Instruction& convolution) {
  const Shape& shape = convolution.shape();
  return {convolution.operand(0),
          convolution.operand(1),
          convolution.attrs<ConvAttrs>(),
          {shape.dims().begin(), shape.dims().end()}};
}

bool FoldsPad(const ConvolutionParts& parts) {
  const Instruction* x = parts.x;
  DimVector spatial = parts.attrs.dims.input_spatial;
  while (x->opcode() == Opcode::kTranspose) {
    for (int64_t& s : spatial) Through(*x, &s);
    x = x->operand(0);
  }
  return IsFoldable(*x, spatial, parts.attrs.window);
}

void FoldIntoWindow(ConvolutionParts* parts) {
  while (FoldPad(parts) || FoldInputTranspose(parts)) {
  }
  while (FoldKernel(parts)) {
  }
}

}  // namespace ptxla::hlo
