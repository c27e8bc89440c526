// A convolution as its kernel sees it: a sum over taps of products of shifted
// planes.
//
//   out[p, row, n] = sum over taps t and features k of
//                    in[InputOf(p, t), row, k] * weights[t, k, n]
//
// Physically, major to minor: the planes are the spatial dimensions, one axis
// each; rows are the batch; lanes are features. So a window never crosses the
// rows of a tile, and a shifted window is another plane. Rows and lanes of the
// weights are the two feature dimensions in either order; their taps are
// planes.
//
// A gradient of weights contracts the batch: its arrays lie as those of the
// forward pass do, batch in rows, and the kernel has no features but those of
// its result. See gradient_kernel.cc. A pass whose batch lies in the lanes is
// the same: it contracts the features, which are in rows. Its result has the
// kernel's features in rows and the input's in lanes; in the other order the
// two operands change places, as
//
//   out[p] = sum over r of in[r + p - padding] * kernel[r]
//          = sum over s of in[s] * kernel[s - p + padding]
//
// meets the planes of what was the kernel, last result first.
//
//   ASSIGN_OR_RETURN(ConvolutionForm f, ConvolutionForm::Of(instruction));
#ifndef PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_CONVOLUTION_FORM_H_
#define PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_CONVOLUTION_FORM_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/products/product_operands.h"

namespace ptxla::lowering {

// One spatial dimension.
struct WindowAxis {
  int64_t in = 1, out = 1, taps = 1;
  int64_t stride = 1, padding = 0;  // low; negative: cut off
  int64_t base_dilation = 1, window_dilation = 1;
  // Bytes in HBM from one input plane (tap) to the next along the axis.
  int64_t in_pitch = 0, tap_pitch = 0;
  bool reversal = false;

  // Each output meets one plane, through a tap of its own: a batch of
  // convolutions, or groups of features that passes have made planes of.
  bool MeetsOne() const {
    return taps > 1 && taps == in && taps == out && base_dilation == taps &&
           stride == taps - 1 && window_dilation == 1 && padding == 0 &&
           !reversal;
  }

  // Position in the dilated input, of which each base_dilation-th exists.
  int64_t Position(int64_t o, int64_t tap) const {
    return o * stride + (reversal ? taps - 1 - tap : tap) * window_dilation -
           padding;
  }
  // The input index that output `o` meets through the tap; -1: none.
  int64_t InputOf(int64_t o, int64_t tap) const {
    const int64_t p = Position(o, tap);
    if (p < 0 || p % base_dilation != 0 || p / base_dilation >= in) return -1;
    return p / base_dilation;
  }
};

// Of all axes together.
inline int64_t TapsOf(const std::vector<WindowAxis>& axes) {
  int64_t taps = 1;
  for (const WindowAxis& a : axes) taps *= a.taps;
  return taps;
}

struct ConvolutionForm {
  const hlo::Instruction* convolution = nullptr;
  std::vector<WindowAxis> axes;  // major to minor
  // The batch is contracted. The product's LHS is then the kernel, its RHS the
  // input, and each plane of the result a batch member.
  bool gradient = false;
  // Of a gradient: results are met from the last plane to the first one, along
  // every axis.
  bool mirrored = false;
  ProductForm product;
  // The input in memory, where its batch lies outside: the kernel turns it
  // (turned_input.h), `product.lhs` is what that makes. Bytes between members.
  std::optional<MatrixView> turned;
  int64_t batch_pitch = 0;
  // Operations on elements that exist, multiply and add.
  int64_t flops = 0;

  int64_t Taps() const { return TapsOf(axes); }
  // The plane of the result that the taps meet as number `plane`.
  int64_t PlaneOfResult(int64_t plane) const {
    return mirrored ? product.problem.batch - 1 - plane : plane;
  }
  // Tiles of 8 rows that a plane of the input has.
  int64_t RowTiles() const { return (rows + 7) / 8; }
  int64_t rows = 1;  // of the batch

  // `instruction`: a convolution, or an output fusion around one. Unimplemented
  // names the convolution and what it has that is not supported.
  static absl::StatusOr<ConvolutionForm> Of(
      const hlo::Instruction& instruction);
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_CONVOLUTION_FORM_H_
