// The kernel of one instruction with the tilings that it was chosen from: the
// emitter of every compile, run once more with a log. Equal to the kernel that
// Lower() made, because emitters are pure functions.
//
//   ASSIGN_OR_RETURN(KernelDecision d, DecideKernel(*fusion, chip));
//   d.log.candidates[0].cost_cycles
#ifndef PTXLA_HLO_BACKEND_LOWERING_KERNEL_DECISION_H_
#define PTXLA_HLO_BACKEND_LOWERING_KERNEL_DECISION_H_

#include "absl/status/statusor.h"
#include "chips/chip_spec.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/tiling_log.h"
#include "isa/kernel.h"

namespace ptxla::lowering {

struct KernelDecision {
  isa::Kernel kernel;
  TilingLog log;
};

// `instruction`: of a scheduled module with layouts. Errors are EmitKernel's.
absl::StatusOr<KernelDecision> DecideKernel(const hlo::Instruction& instruction,
                                            const chips::ChipSpec& chip);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_KERNEL_DECISION_H_
