// A convolution whose batch lies in rows or in lanes, in one of the forms of
// convolution_canonicalizer.h:
//
//                      batch in rows         batch in lanes
//   a pass             01bf_01io->01bf       01fb_01io->01fb
//   its weights'       01fb_01io->01fb       01bf_01oi->01bf
//   gradient
//
// A gradient has more taps than results; its input_feature is the batch.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_LANE_CONVOLUTION_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_LANE_CONVOLUTION_H_

#include <cstdint>
#include <optional>

#include "chips/chip_spec.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

struct LaneConvolution {
  Instruction* convolution = nullptr;
  bool gradient = false;
  bool in_lanes = false;
  // f32 that the MXU rounds anyway becomes bf16 before.
  bool rounded = false;
  int64_t batch = 0;
  int64_t in = 0, out = 0;  // features of the input and of the other array

  // Nothing for another form, groups and windows of one tap.
  static std::optional<LaneConvolution> Of(Instruction* convolution);

  // The result of a pass, the right operand of a gradient.
  const Instruction& other() const {
    return gradient ? *convolution->operand(1) : *convolution;
  }
  // The features that a pass contracts, in the lanes form, fill rows of tiles.
  bool FillsRows() const;
  // Has a kernel steps that fit into VMEM, with the batch in lanes?
  bool FitsLanes(const chips::ChipSpec& chip) const;
  // `rounded` halves the steps of a gradient of f32.
  bool MayBeRounded() const;
};

// The same with the batch in the other dimension, between transposes. Features
// that a pass then has in rows are filled up with zeros to whole tiles. What is
// `rounded` is converted in front of the transposes.
void Turn(const LaneConvolution& c);

// The same of a pass that has its batch in lanes already.
void FillRows(const LaneConvolution& c);

// Of what has its batch in lanes and does not fit so: whether MakeFit helps,
// which reverses an array instead of the taps of a gradient, and turns a pass.
bool CanFit(const LaneConvolution& c);
// The operands of one that fits `rounded`, as bf16.
void Round(const LaneConvolution& c);
void MakeFit(const LaneConvolution& c);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_LANE_CONVOLUTION_H_
