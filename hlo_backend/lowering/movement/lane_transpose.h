// Transposes that give the lanes to another dimension and exchange planes with
// rows or lanes on the way, in one pass over the array.
//
//   bf16[128,384,384] transpose(bf16[384,384,128]), dimensions={2,0,1}
//   f32[112,112,32,64] copy of {2,3,1,0} f32[32,112,112,64]
//
// The transpose unit turns blocks of 128 x 128. Its rows come from the rows of
// a plane, or each 8 from as many planes (strided loads); its results go to the
// rows of a plane, or each 8 to as many planes (strided stores). So any two of
// the operand's dimensions can become lanes and rows. Of bf16 two rows of the
// result go through together, as the halves of words.
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_LANE_TRANSPOSE_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_LANE_TRANSPOSE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/kernel_plan.h"

namespace ptxla::lowering {

// A transpose, or copy between layouts, of 32-bit words or bf16 whose lanes
// come from another dimension. Not the exchange of rows and lanes alone.
bool IsLaneTranspose(const hlo::Instruction& i);

absl::StatusOr<isa::Kernel> EmitLaneTranspose(const KernelContext& context,
                                              const hlo::Instruction& i);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_LANE_TRANSPOSE_H_
