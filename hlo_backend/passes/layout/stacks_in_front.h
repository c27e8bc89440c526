// Values that are stacked along a new dimension of few numbers (the entries of
// rotation matrices out of quaternions, coordinates, basis functions of
// points), for transpose_mover.h: as planes, with the transpose behind them
// that the program named.
//
//   f32[262144,3] concatenate(f32[262144,1] reshape(f32[262144] %x), ..y, ..z),
//     dimensions={1}
//   ==> transpose(f32[3,262144] concatenate(f32[1,262144] reshape(%x), ..),
//     {1,0})
//
// In the lanes 3 numbers would take 43 times their bytes.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_STACKS_IN_FRONT_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_STACKS_IN_FRONT_H_

#include <optional>

#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {

struct StackInFront {
  Instruction* planes = nullptr;
  DimVector order;  // of the transpose that makes the stack of it
};

// None: another operation, a stack whose numbers are made one row with others
// (columns that are interleaved), or one that fills its tiles as it is.
std::optional<StackInFront> InFront(Builder& b, const Instruction& stack,
                                    int generation);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_STACKS_IN_FRONT_H_
