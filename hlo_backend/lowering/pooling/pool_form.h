// A sliding window as its kernels see it: planes and their content.
//
//   reduce-window       out[p] = op over taps t of in[InputOf(p, t)]
//   select-and-scatter  the same windows over the operand; the source has one
//                       plane per window, the result one per operand plane
//
// Planes are the outer physical dimensions, one axis each, up to the last one
// that the window moves along. Their content is what lies inside: contiguous,
// the same bytes in every plane, taken register by register, whatever its
// tiles. So a window never crosses rows or lanes; passes see to that
// (passes/expanders/window_canonicalizer.h).
//
//   ASSIGN_OR_RETURN(PoolForm f, PoolForm::Of(instruction));
#ifndef PTXLA_HLO_BACKEND_LOWERING_POOLING_POOL_FORM_H_
#define PTXLA_HLO_BACKEND_LOWERING_POOLING_POOL_FORM_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/convolutions/convolution_form.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {

struct PoolForm {
  const hlo::Instruction* instruction = nullptr;
  hlo::Opcode op = hlo::Opcode::kAdd;
  hlo::PrimitiveType type = hlo::PrimitiveType::kInvalid;
  // in_pitch: bytes between planes of the operand; tap_pitch: between windows,
  // which are planes of the source or of the result.
  std::vector<WindowAxis> axes;
  // A plane's content: `units` of `unit_bytes`; between them it may be cut.
  int64_t units = 1, unit_bytes = 0;
  // The one axis along which every plane takes in all earlier (later) ones:
  // a cumulative sum. -1: none.
  int cumulative = -1;
  bool from_end = false;
  // A depthwise convolution: planes are multiplied by a number per tap and lane
  // before they are added.
  bool weighted = false;

  int64_t Taps() const { return TapsOf(axes); }
  // Registers that a plane's content fills.
  int64_t Registers() const;

  // A reduce-window or select-and-scatter. Unimplemented names it and what it
  // has that is not supported.
  static absl::StatusOr<PoolForm> Of(const hlo::Instruction& i);
  // A convolution with as many groups as features, of its input and of its
  // result.
  static absl::StatusOr<PoolForm> OfDepthwise(const hlo::Instruction& conv);
  // The gradient of the weights of one (passes/products/depthwise_gradient.h),
  // as the windows of the forward pass: out and tap_pitch are of the gradient
  // of its result, the kernel here; taps are planes of the result here.
  static absl::StatusOr<PoolForm> OfDepthwiseGradient(
      const hlo::Instruction& conv);
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_POOLING_POOL_FORM_H_
