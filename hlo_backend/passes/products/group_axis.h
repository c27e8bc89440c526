// An axis of a convolution along which each result meets the input and the
// kernel of its own number only: groups.
//
//   x [n,h,w,32,8], w [3,3,8,32,8], window={size=3x3x32 stride=1x1x31
//   lhs_dilate=1x1x32}
//   ==> x [n,h,w,256], w [3,3,8,256], feature_group_count=32
//
// So the TPU compiler writes groups of features in its schedules, and those of
// a gradient of weights, which become batch_group_count here.
//
//   Instruction* y = GroupsOfAxis(convolution);
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_GROUP_AXIS_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_GROUP_AXIS_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// The value that stands for `convolution`; null: it has no such axis beside
// another one, has groups already, or its groups are large enough for planes
// (group_planes.h).
Instruction* GroupsOfAxis(Instruction* convolution);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_GROUP_AXIS_H_
