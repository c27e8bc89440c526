// A reversal along lanes: the permute unit turns the lanes of a register round,
// and tiles are stored from the last to the first. Where the last tile is not
// full, a register of the result has lanes of two.
//
//   f32[4096,1024] reverse, dimensions={1}     8 permutes for each tile of rows
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_LANE_REVERSE_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_LANE_REVERSE_H_

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/kernel_emitter.h"

namespace ptxla::lowering {

// A reverse of the minor dimension alone, of two dimensions and more.
bool IsLaneReverse(const hlo::Instruction& i);

// Unimplemented: rows too long for VMEM or for one piece of code, arrays in
// VMEM that do not fill registers, chips that permute no lanes.
absl::StatusOr<isa::Kernel> EmitLaneReverse(const KernelContext& context,
                                            const hlo::Instruction& i);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_LANE_REVERSE_H_
