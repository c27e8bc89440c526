// Convolutions of any window as HLO text, for tests of their kernels.
//
//   Conv c;
//   c.k = 64;
//   c.dims.assign(2, ConvolutionDim{18, 3});
//   EXPECT_OK(CompareKernel(Hlo(c), On("v5e")).status());
#ifndef PTXLA_TESTS_HLO_BACKEND_LOWERING_CONVOLUTIONS_CONVOLUTION_TEXT_H_
#define PTXLA_TESTS_HLO_BACKEND_LOWERING_CONVOLUTIONS_CONVOLUTION_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"

namespace ptxla::lowering {

// Numbers in [-1, 1], and what bf16 products of a few hundred may be off.
inline HarnessOptions On(const std::string& chip) {
  HarnessOptions options;
  options.chip = chip;
  options.low = -1;
  options.high = 1;
  options.absolute = 0.03;
  options.relative = 0.03;
  return options;
}

// One spatial dimension.
struct ConvolutionDim {
  int64_t in = 1, taps = 1, stride = 1, low = 0, high = 0;
  int64_t base_dilation = 1, window_dilation = 1;
  bool reversal = false;
  int64_t Out() const {
    const int64_t padded = (in - 1) * base_dilation + 1 + low + high;
    return (padded - ((taps - 1) * window_dilation + 1)) / stride + 1;
  }
  bool Exists() const {
    return (in - 1) * base_dilation + 1 + low + high >=
           (taps - 1) * window_dilation + 1;
  }
};

struct Conv {
  int64_t batch = 1, k = 1, n = 1;
  std::vector<ConvolutionDim> dims;
  bool in_f32 = false, w_f32 = false, out_f32 = false, w_transposed = false;
};

inline std::string Type(bool f32) { return f32 ? "f32[" : "bf16["; }

// Planes, batch in rows, features in lanes.
inline std::string Hlo(const Conv& c) {
  std::string in, w, out, size, stride, pad, base, window, reversal, labels;
  for (size_t d = 0; d < c.dims.size(); ++d) {
    const ConvolutionDim& x = c.dims[d];
    absl::StrAppend(&in, x.in, ",");
    absl::StrAppend(&w, x.taps, ",");
    absl::StrAppend(&out, x.Out(), ",");
    const char* by = d == 0 ? "" : "x";
    absl::StrAppend(&size, by, x.taps);
    absl::StrAppend(&stride, by, x.stride);
    absl::StrAppend(&pad, by, x.low, "_", x.high);
    absl::StrAppend(&base, by, x.base_dilation);
    absl::StrAppend(&window, by, x.window_dilation);
    absl::StrAppend(&reversal, by, x.reversal ? 1 : 0);
    absl::StrAppend(&labels, d);
  }
  return absl::StrCat(
      "HloModule m\nENTRY e {\n  x = ", Type(c.in_f32), in, c.batch, ",", c.k,
      "] parameter(0)\n  w = ", Type(c.w_f32), w,
      c.w_transposed ? absl::StrCat(c.n, ",", c.k)
                     : absl::StrCat(c.k, ",", c.n),
      "] parameter(1)\n  ROOT c = ", Type(c.out_f32), out, c.batch, ",", c.n,
      "] convolution(x, w), window={size=", size, " stride=", stride,
      " pad=", pad, " lhs_dilate=", base, " rhs_dilate=", window,
      " rhs_reversal=", reversal, "}, dim_labels=", labels, "bf_", labels,
      c.w_transposed ? "oi->" : "io->", labels, "bf\n}\n");
}

}  // namespace ptxla::lowering

#endif  // PTXLA_TESTS_HLO_BACKEND_LOWERING_CONVOLUTIONS_CONVOLUTION_TEXT_H_
