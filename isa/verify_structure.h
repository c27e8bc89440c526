// The part of the verifier that needs no bundles in order; see isa/verifier.h.
#ifndef PTXLA_ISA_VERIFY_STRUCTURE_H_
#define PTXLA_ISA_VERIFY_STRUCTURE_H_

#include "absl/status/status.h"
#include "isa/kernel.h"
#include "isa/machine_model.h"
#include "isa/timing.h"

namespace ptxla::isa {

// Grid, windows inside their arguments and slots, descriptors, VMEM and SMEM.
absl::Status VerifyStructure(const Kernel& kernel, const MachineModel& machine);

// Every window is started and waited for where isa/kernel.h says, and each
// semaphore is given as many bytes as are taken.
absl::Status VerifyDma(const Kernel& kernel, const KernelTiming& timing,
                       const MachineModel& machine);

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_VERIFY_STRUCTURE_H_
