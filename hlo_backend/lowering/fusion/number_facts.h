// What is known of a float before it is computed, from the instructions that
// make it. The TPU compiler (libtpu 0.0.42.1) converts a clamped number
// without clamping it again, and rounds in the conversion.
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_NUMBER_FACTS_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_NUMBER_FACTS_H_

#include <limits>

#include "hlo_backend/ir/instruction.h"

namespace ptxla::lowering {

// A number lies within, or is NaN.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};
Bounds BoundsOf(const hlo::Instruction& value);

// floor or ceil.
bool IsCutOff(const hlo::Instruction& value);

// The operand of a maximum, minimum or clamp by whole constants that is
// bounded: rounding it first or last gives the same. -1: it is none.
int BoundedOperand(const hlo::Instruction& value);

// A float becomes an integer of at most 8 bits: it saturates.
bool SaturatesToByte(const hlo::Instruction& value);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_NUMBER_FACTS_H_
