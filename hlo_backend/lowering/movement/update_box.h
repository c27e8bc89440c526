// dynamic-update-slice whose update ends inside of tiles: the tiles that it
// touches are fetched, blended and stored again.
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_UPDATE_BOX_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_UPDATE_BOX_H_

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/kernel_emitter.h"

namespace ptxla::lowering {

// Any update of elements of 8 to 32 bits, in memory of any kind. Unimplemented:
// layouts that differ; rows of the update too large for VMEM, or planes that
// cannot be cut into equal parts of whole tiles.
absl::StatusOr<isa::Kernel> EmitUpdateBox(const KernelContext& context,
                                          const hlo::Instruction& i);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_UPDATE_BOX_H_
