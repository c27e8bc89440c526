// Multiply-adds of dot, ragged-dot and convolution.
#include <algorithm>
#include <numeric>

#include "hlo_backend/analysis/cost_analysis.h"

namespace ptxla::hlo {
namespace {

// How many i in [0, count) give a position i*step + offset that is an element
// of the base: inside, and no hole of its dilation.
int64_t ValidSteps(int64_t count, int64_t step, int64_t offset, int64_t base,
                   int64_t base_dilation) {
  const int64_t last = (base - 1) * base_dilation;
  if (base <= 0 || count <= 0 || last < offset) return 0;
  // First and last inside, whatever the holes.
  const int64_t low = offset < 0 ? (-offset + step - 1) / step : 0;
  const int64_t high = std::min(count - 1, (last - offset) / step);
  if (low > high) return 0;
  if (base_dilation == 1) return high - low + 1;
  // i*step = -offset modulo base_dilation repeats with this period.
  const int64_t period = base_dilation / std::gcd(base_dilation, step);
  for (int64_t i = low; i < low + period && i <= high; ++i) {
    if ((i * step + offset) % base_dilation == 0) {
      return (high - i) / period + 1;
    }
  }
  return 0;
}

int64_t ValidPositions(int64_t base, int64_t kernel, int64_t outputs,
                       const WindowDim& d) {
  // A dimension that is a batch or a free dimension in disguise: all kernel
  // positions are valid in closed form, which keeps huge ones cheap.
  const int64_t n = base;
  if (base == kernel && kernel == outputs && d.base_dilation == n &&
      d.window_dilation == 1 && d.stride == std::max<int64_t>(1, n - 1) &&
      d.padding_low == 0 && d.padding_high == 0) {
    return n;
  }
  if (base == 1 && d.window_dilation == 1 && d.stride == 1 &&
      d.padding_low == kernel - 1 && d.padding_high == kernel - 1) {
    return std::min(kernel, outputs);
  }
  // Along the shorter of the two, each step counted in closed form.
  int64_t count = 0;
  if (kernel <= outputs) {
    for (int64_t k = 0; k < kernel; ++k) {
      count +=
          ValidSteps(outputs, d.stride, k * d.window_dilation - d.padding_low,
                     base, d.base_dilation);
    }
  } else {
    for (int64_t o = 0; o < outputs; ++o) {
      count += ValidSteps(kernel, d.window_dilation,
                          o * d.stride - d.padding_low, base, d.base_dilation);
    }
  }
  return count;
}

double Product(const Shape& s, const DimVector& dims) {
  double product = 1;
  for (int64_t d : dims) {
    product *= static_cast<double>(s.dim(static_cast<int>(d)));
  }
  return product;
}

}  // namespace

double DotMultiplyAdds(const Instruction& i) {
  const Shape& lhs = i.operand(0)->shape();
  const DotAttrs& dot = i.opcode() == Opcode::kRaggedDot
                            ? i.attrs<RaggedDotAttrs>().dot
                            : i.attrs<DotAttrs>();
  return static_cast<double>(i.shape().ElementCount()) *
         Product(lhs, dot.lhs_contracting);
}

double ConvolutionMultiplyAdds(const Instruction& i) {
  const ConvAttrs& c = i.attrs<ConvAttrs>();
  const ConvDims& d = c.dims;
  const Shape &x = i.operand(0)->shape(), &k = i.operand(1)->shape();
  const Shape& y = i.shape();
  auto dim = [](const Shape& s, int64_t n) {
    return s.dim(static_cast<int>(n));
  };
  double positions = 1;
  for (size_t n = 0; n < c.window.dims.size(); ++n) {
    positions *= static_cast<double>(
        ValidPositions(dim(x, d.input_spatial[n]), dim(k, d.kernel_spatial[n]),
                       dim(y, d.output_spatial[n]), c.window.dims[n]));
  }
  const double features =
      static_cast<double>(dim(x, d.input_feature) / c.feature_group_count) *
      static_cast<double>(dim(y, d.output_feature));
  const double batch =
      static_cast<double>(dim(x, d.input_batch) / c.batch_group_count);
  return features * batch * positions;
}

}  // namespace ptxla::hlo
