// Convolutions and pooling of images [n, h, w, c] with kernels [kh, kw, c, o],
// in the forms in which torch_xla 2.9 emits them for [n, c, h, w]: the kernel
// of an input gradient is turned round by a reverse instruction, the window of
// a weight gradient is the output's gradient.
#include <limits>
#include <utility>

#include "lazy/lowering/lower_ops.h"

namespace ptxla::lazy {

using hlo::Instruction;
using hlo::Opcode;
using hlo::Shape;

namespace {

constexpr int kSpatial = 2;

struct Operand {
  int64_t batch, feature;
  DimVector spatial;
};

hlo::ConvDims Dims(const Operand& input, const Operand& kernel,
                   const Operand& output) {
  hlo::ConvDims dims;
  dims.input_batch = input.batch;
  dims.input_feature = input.feature;
  dims.input_spatial = input.spatial;
  dims.kernel_input_feature = kernel.batch;
  dims.kernel_output_feature = kernel.feature;
  dims.kernel_spatial = kernel.spatial;
  dims.output_batch = output.batch;
  dims.output_feature = output.feature;
  dims.output_spatial = output.spatial;
  return dims;
}

Instruction* Convolve(HloEmitter& e, Instruction* a, Instruction* b,
                      hlo::Window window, hlo::ConvDims dims,
                      const DimVector& result) {
  hlo::ConvAttrs attrs;
  attrs.window = std::move(window);
  attrs.dims = std::move(dims);
  return e.Emit(Opcode::kConvolution,
                Shape::ArrayRowMajor(a->shape().type(), result), {a, b},
                hlo::Boxed<hlo::ConvAttrs>(std::move(attrs)));
}

const Operand kImage = {0, 3, {1, 2}};
const Operand kKernel = {2, 3, {0, 1}};

Instruction* InputGradient(const LoweringInput& x, const WindowAttrs& w) {
  const Shape& image = x.in[1]->shape();
  const Shape& grad = x.in[0]->shape();
  Instruction* turned = x.e.Emit(Opcode::kReverse, x.in[2]->shape(), {x.in[2]},
                                 hlo::DimensionsAttrs{{0, 1}});
  hlo::Window window;
  for (int i = 0; i < kSpatial; ++i) {
    hlo::WindowDim dim;
    dim.size = w.sizes[i];
    dim.base_dilation = w.strides[i];
    dim.padding_low = w.sizes[i] - 1 - w.padding[i];
    // The last elements of the input that no window began at.
    const int64_t full = (grad.dim(i + 1) - 1) * w.strides[i] + 1;
    dim.padding_high =
        image.dim(i + 1) + w.sizes[i] - 1 - full - dim.padding_low;
    window.dims.push_back(dim);
  }
  return Convolve(x.e, x.in[0], turned, std::move(window),
                  Dims(kImage, {3, 2, {0, 1}}, kImage), image.dims());
}

Instruction* WeightGradient(const LoweringInput& x, const WindowAttrs& w) {
  const Shape& image = x.in[1]->shape();
  const Shape& grad = x.in[0]->shape();
  hlo::Window window;
  for (int i = 0; i < kSpatial; ++i) {
    hlo::WindowDim dim;
    dim.size = grad.dim(i + 1);
    dim.window_dilation = w.strides[i];
    dim.padding_low = w.padding[i];
    dim.padding_high =
        w.sizes[i] - 1 + dim.DilatedSize() - image.dim(i + 1) - dim.padding_low;
    window.dims.push_back(dim);
  }
  return Convolve(x.e, x.in[1], x.in[0], std::move(window),
                  Dims({3, 0, {1, 2}}, {0, 3, {1, 2}}, kKernel),
                  x.in[2]->shape().dims());
}

// Over the two spatial dimensions.
hlo::Window PoolWindow(const WindowAttrs& w, bool padded) {
  hlo::Window window;
  window.dims.resize(kSpatial + 2);
  for (int i = 0; i < kSpatial; ++i) {
    hlo::WindowDim& dim = window.dims[i + 1];
    dim.size = w.sizes[i];
    dim.stride = w.strides[i];
    if (padded) dim.padding_low = dim.padding_high = w.padding[i];
  }
  return window;
}

}  // namespace

LoweringOutput LowerConvolution(const LoweringInput& x) {
  const auto& w = x.node.attrs<WindowAttrs>();
  hlo::Window window;
  for (int i = 0; i < kSpatial; ++i) {
    hlo::WindowDim dim;
    dim.size = w.sizes[i];
    dim.stride = w.strides[i];
    dim.padding_low = dim.padding_high = w.padding[i];
    window.dims.push_back(dim);
  }
  return {Convolve(x.e, x.in[0], x.in[1], std::move(window),
                   Dims(kImage, kKernel, kImage), x.node.shape().dims())};
}

LoweringOutput LowerConvolutionBackward(const LoweringInput& x) {
  const auto& w = x.node.attrs<WindowAttrs>();
  Instruction* of_input = InputGradient(x, w);
  Instruction* of_weight = WeightGradient(x, w);
  Instruction* zero = x.e.Constant(0, x.in[0]->shape().type());
  Instruction* of_bias = x.e.Reduce(Opcode::kAdd, x.in[0], zero, {0, 1, 2});
  return {of_input, of_weight, of_bias};
}

LoweringOutput LowerMaxPool(const LoweringInput& x) {
  const auto& w = x.node.attrs<WindowAttrs>();
  const PrimitiveType type = x.node.shape().type();
  Instruction* lowest =
      x.e.Constant(-std::numeric_limits<double>::infinity(), type);
  hlo::PadAttrs pad;
  pad.dims.resize(kSpatial + 2);
  DimVector dims = x.in[0]->shape().dims();
  for (int i = 0; i < kSpatial; ++i) {
    pad.dims[i + 1].low = pad.dims[i + 1].high = w.padding[i];
    dims[i + 1] += 2 * w.padding[i];
  }
  Instruction* padded =
      x.e.Emit(Opcode::kPad, Shape::ArrayRowMajor(type, dims),
               {x.in[0], lowest}, hlo::Boxed<hlo::PadAttrs>(std::move(pad)));
  hlo::Computation* maximum =
      x.e.Combiner(Opcode::kMaximum, type, "MaxComputation", "x", "y");
  return {x.e.Emit(
      Opcode::kReduceWindow, Shape::ArrayRowMajor(type, x.node.shape().dims()),
      {padded, lowest},
      hlo::Boxed<hlo::WindowAttrs>(hlo::WindowAttrs{PoolWindow(w, false)}),
      {maximum})};
}

LoweringOutput LowerMaxPoolBackward(const LoweringInput& x) {
  const auto& w = x.node.attrs<WindowAttrs>();
  const PrimitiveType type = x.node.shape().type();
  Instruction* zero = x.e.Constant(0, type);
  hlo::Computation* first = x.e.Comparer(hlo::CompareDirection::kGe, type,
                                         "xla_ge_computation", "x", "y");
  hlo::Computation* add =
      x.e.Combiner(Opcode::kAdd, type, "AddComputation", "x", "y");
  return {x.e.Emit(
      Opcode::kSelectAndScatter,
      Shape::ArrayRowMajor(type, x.node.shape().dims()),
      {x.in[1], x.in[0], zero},
      hlo::Boxed<hlo::WindowAttrs>(hlo::WindowAttrs{PoolWindow(w, true)}),
      {first, add})};
}

}  // namespace ptxla::lazy
