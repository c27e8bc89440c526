#include "hlo_backend/lowering/kernel_decision.h"

#include <utility>

#include "base/status.h"
#include "hlo_backend/lowering/codegen/emit.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "isa/from_chip_spec.h"

namespace ptxla::lowering {

absl::StatusOr<KernelDecision> DecideKernel(const hlo::Instruction& instruction,
                                            const chips::ChipSpec& chip) {
  const isa::MachineModel model = isa::FromChipSpec(chip);
  codegen::BlockCache cache(model);
  KernelDecision decision;
  const KernelContext context{chip, model, &cache, &decision.log};
  ASSIGN_OR_RETURN(decision.kernel, EmitKernel(context, instruction));
  return decision;
}

}  // namespace ptxla::lowering
