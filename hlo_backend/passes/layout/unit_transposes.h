// Reshapes in which nothing but dimensions of size 1 comes or moves, as
// transposes.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_UNIT_TRANSPOSES_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_UNIT_TRANSPOSES_H_

#include <optional>

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Of a reshape in which nothing but dimensions of size 1 change places: the
// transpose that it is.
//
//   f32[1,100] reshape(f32[100,1])   ==>  {1,0}
std::optional<DimVector> AsTranspose(const Instruction& i);

// A reshape of what is transposed and the transpose behind it.
struct UnitsInFront {
  DimVector dims, order;
};

// Of a reshape of a transpose that only adds dimensions of size 1: they are
// added in front of what is transposed.
//
//   f32[1,256,64,3] reshape(transpose(f32[3,256,64], {1,2,0}))
//   ==>  transpose(f32[1,3,256,64] reshape(), {0,2,3,1})
//
// None for a column of lanes that stay lanes, put beside others along a last
// dimension of size 1 (stack and flatten): reshape_order.h finds the order of
// these.
std::optional<UnitsInFront> WithUnitsInFront(const Instruction& i);

// The same of one that drops all dimensions of size 1.
//
//   f32[256,64] reshape(transpose(f32[64,1,256], {2,0,1}))
//   ==>  transpose(f32[64,256] reshape(), {1,0})
std::optional<UnitsInFront> WithoutUnits(const Instruction& i);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_UNIT_TRANSPOSES_H_
