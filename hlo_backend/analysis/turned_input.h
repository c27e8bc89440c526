// An input whose batch lies outside, as images come from a framework, of a
// convolution that wants it in rows: the kernel turns what its window brings,
// so that nobody moves the array. The TPU compiler does the same with the copy
// that its choice of layouts puts before such a convolution.
//
//   t = bf16[56,56,32,64] transpose(bf16[32,56,56,64] x), dimensions={1,2,0,3}
//   c = convolution(t, w), dim_labels=01bf_01io->01bf
//
// Lanes stay; rows of the input, along the last spatial dimension, become
// planes, and its planes of the batch rows.
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_TURNED_INPUT_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_TURNED_INPUT_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// A transpose from [batch, spatial..., features] to [spatial..., batch,
// features], both row-major, of f32 or bf16 and a batch of whole tiles.
bool TurnsBatchIntoRows(const Instruction& transpose);

// What lies in memory of a convolution's input, behind conversions and such a
// transpose; the operand itself where there are none.
struct ConvolutionSource {
  const Instruction* value = nullptr;
  bool turned = false;
};
ConvolutionSource InputSource(const Instruction& convolution);

// Does the result have its features in rows of tiles, its batch in the lanes?
// The rows of the kernel's product are then those of one plane: a value of each
// feature is one per row.
bool HasFeaturesInRows(const Instruction& convolution);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_TURNED_INPUT_H_
