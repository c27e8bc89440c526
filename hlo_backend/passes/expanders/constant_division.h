// Division of integers by numbers that the compiler knows: shifts for powers of
// two, else the upper word of a product (Granlund and Montgomery 1994). VALU
// operations of 1,024 words (libtpu 0.0.42.1 in brackets): u32 / 8 1 (1), s32 /
// 8 6 (6); u32 / 10 on v4 52 (49), v5e 15 (20), v6e 2 (2); s32 / 10 on v6e 7
// (7).
//
//   s32 x / broadcast(8)  ->  select(x < 0, -(|x| >> 3), |x| >> 3)
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_CONSTANT_DIVISION_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_CONSTANT_DIVISION_H_

#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {

// The quotient, towards zero, or the remainder, with the sign of `x`. `x` and
// `y` are s32 or u32 of one shape. Null where `y` is not one constant, or 0.
Instruction* DivideByConstant(Builder* b, Instruction* x, const Instruction* y,
                              bool remainder);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_CONSTANT_DIVISION_H_
