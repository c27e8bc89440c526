// A reshape that joins or cuts lanes in whole tiles (analysis/lane_reshape.h)
// as a permutation: on the side with few dimensions each column of tiles is a
// plane of its own,
//
//   f32[64,262144] reshape(f32[64,512,512])     walks [512,64,512] of
//   [64,512,512]
//
// where only the bytes between planes are not those of an array of that shape.
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_LANE_RESHAPE_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_LANE_RESHAPE_H_

#include <optional>

#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/movement/permuted_box.h"

namespace ptxla::lowering {

// Null: another instruction, a layout that is not row-major.
std::optional<Permutation> DescribeLaneReshape(const hlo::Instruction& i);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_LANE_RESHAPE_H_
