// Makes the distinct kernels of a module, each on its own, on several cores.
// The kernels are the same bytes whatever the number of cores.
//
//   std::vector<KernelJob> jobs = {{&instruction, fingerprint}};
//   std::vector<MadeKernel> made = MakeKernels(jobs, chip, model, options);
#ifndef PTXLA_HLO_BACKEND_LOWERING_KERNEL_JOBS_H_
#define PTXLA_HLO_BACKEND_LOWERING_KERNEL_JOBS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "chips/chip_spec.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/codegen/emit.h"
#include "hlo_backend/lowering/lowering.h"
#include "isa/kernel.h"
#include "isa/machine_model.h"

namespace ptxla::lowering {

struct KernelJob {
  const hlo::Instruction* instruction = nullptr;
  uint64_t fingerprint = 0;
  // The same kernel of an earlier program, or null.
  const isa::Kernel* earlier = nullptr;
  // Or itself, of an earlier round.
  std::optional<isa::Kernel> kept = std::nullopt;
};

struct MadeKernel {
  absl::StatusOr<isa::Kernel> kernel;
  bool estimated = false;
};

// In the order of `jobs`, of which `kept` is taken. Blocks scheduled and reused
// are added to `stats`.
std::vector<MadeKernel> MakeKernels(absl::Span<KernelJob> jobs,
                                    const chips::ChipSpec& chip,
                                    const isa::MachineModel& model,
                                    const LoweringOptions& options,
                                    codegen::BlockCache* blocks,
                                    LoweringStats* stats);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_KERNEL_JOBS_H_
