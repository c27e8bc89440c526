// Which reduces a kernel can make beside other work, and where in it.
//
//   f32[8] reduce(f32[8,128] %x, 0), dimensions={1}, to_apply=sum
//   IsFusibleReduce(*r)        // ends a kernel that computes %x
//   IsRowReduce(*r, *dot)      // of scores, while they are in registers
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_FUSIBLE_REDUCES_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_FUSIBLE_REDUCES_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// A reduce of one array that a kInput fusion may hold.
bool IsFusibleReduce(const Instruction& reduce);

// The reduce that a value is: itself, or the f32 one that a convert to bf16 is
// the only reader of, as a kernel may store it. Nullptr for others.
const Instruction* StoredReduce(const Instruction& value);

// A reduce along one dimension whose values, perhaps converted, are only
// broadcast along it again (the maximum of a softmax). Several such reduces of
// one dimension, one behind the other, may stand in a kInput fusion, whose
// steps then hold all of that dimension.
bool IsBroadcastAgain(const Instruction& reduce);

// An f32 reduce over all dimensions but the last. Beside reduces over the last
// dimension alone (IsOverLastDimension) of the same iteration shape a kInput
// fusion may hold such of the columns, too: both sums of a normalisation's
// gradient.
bool IsReduceOfColumns(const Instruction& reduce);
bool IsOverLastDimension(const Instruction& reduce);

// A fusible f32 (or logical, or bf16 maximum or minimum) reduce of a value of
// the dot's shape over its last dimension.
bool IsRowReduce(const Instruction& reduce, const Instruction& dot);

// A fusible f32 reduce (a sum, a maximum) of a value of the product's shape
// over all of its dimensions but the last, the columns: what a kernel can fold
// as it makes them. Products with a batch and gradients of convolutions have no
// such rows.
bool IsColumnReduce(const Instruction& reduce, const Instruction& product);

// A fusible f32 reduce of a value of the shape of a dot with a batch over its
// rows, the last dimension but one: what the columns of each member reduce to,
// made as their tiles are finished. Work that goes on with it in the same
// kernel reads it as IsBroadcastAgain says.
bool IsMemberColumnReduce(const Instruction& reduce, const Instruction& dot);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_FUSIBLE_REDUCES_H_
