// dynamic-update-slice in place: the update's rows go to their place in the
// result by one DMA transfer, whose target the start indices decide.
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_UPDATE_SLICE_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_UPDATE_SLICE_H_

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/kernel_emitter.h"

namespace ptxla::lowering {

// Whole planes, or single rows of 32-bit words, with all columns: what no tile
// has to be read for. update_box.h does the others.
bool IsTileUpdate(const hlo::Instruction& i);
absl::StatusOr<isa::Kernel> EmitUpdateSlice(const KernelContext& context,
                                            const hlo::Instruction& i);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_UPDATE_SLICE_H_
