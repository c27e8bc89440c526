// Transposes and copies that swap the two minor dimensions: 128 x 128 blocks
// through the transpose unit. The major dimensions go by window.
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_MINOR_TRANSPOSE_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_MINOR_TRANSPOSE_H_

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/kernel_emitter.h"

namespace ptxla::lowering {

// transpose, or copy between layouts, of 32-bit words or bf16, whose result has
// the operand's columns as rows and its rows as columns, in full tiles.
bool IsMinorTranspose(const hlo::Instruction& i);

absl::StatusOr<isa::Kernel> EmitMinorTranspose(const KernelContext& context,
                                               const hlo::Instruction& i);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_MINOR_TRANSPOSE_H_
