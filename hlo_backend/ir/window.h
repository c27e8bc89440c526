// The sliding window of convolution, reduce-window and select-and-scatter:
// `{size=3x3 stride=2x2 pad=1_1x1_1 lhs_dilate=1x2 rhs_dilate=2x1
//   rhs_reversal=0x1}`.
#ifndef PTXLA_HLO_BACKEND_IR_WINDOW_H_
#define PTXLA_HLO_BACKEND_IR_WINDOW_H_

#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"

namespace ptxla::hlo {

struct WindowDim {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t padding_low = 0;  // negative: elements are cut off
  int64_t padding_high = 0;
  int64_t window_dilation = 1;  // rhs_dilate
  int64_t base_dilation = 1;    // lhs_dilate
  bool reversal = false;

  // Extent of the base with dilation and padding.
  int64_t PaddedBase(int64_t base) const {
    return (base <= 0 ? 0 : (base - 1) * base_dilation + 1) + padding_low +
           padding_high;
  }
  int64_t DilatedSize() const {
    return size <= 0 ? 0 : (size - 1) * window_dilation + 1;
  }
  // Positions of the window over a base of this extent.
  int64_t OutputSize(int64_t base) const {
    const int64_t padded = PaddedBase(base), window = DilatedSize();
    return padded < window ? 0 : (padded - window) / stride + 1;
  }
  bool operator==(const WindowDim& o) const;
};

struct Window {
  absl::InlinedVector<WindowDim, 2> dims;

  bool operator==(const Window& o) const { return dims == o.dims; }
  std::string ToString() const;  // "{}" when there are no dimensions
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_WINDOW_H_
