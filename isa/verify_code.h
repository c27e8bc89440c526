// The part of the verifier that walks bundles; see isa/verifier.h.
#ifndef PTXLA_ISA_VERIFY_CODE_H_
#define PTXLA_ISA_VERIFY_CODE_H_

#include "absl/status/status.h"
#include "isa/kernel.h"
#include "isa/machine_model.h"

namespace ptxla::isa {

// Pipeline, registers, slots, FIFOs and banks of one piece of code, for a step
// with the given flags (isa/timing.h). The pipeline must start and end drained.
absl::Status VerifyCode(const Kernel& kernel, const Code& code, uint32_t flags,
                        const MachineModel& machine);

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_VERIFY_CODE_H_
