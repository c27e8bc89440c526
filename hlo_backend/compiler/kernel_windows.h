// How much of the start of VMEM the kernel of an instruction has for its
// windows and scratch, once kernels are made: while it has less than the scoped
// limit, what stays in VMEM may lie there (libtpu 0.0.42.1 gives each
// instruction scoped memory of its own size, at offset 0).
//
//   KernelWindows windows = WindowsOf(module, program);
//   ASSIGN_OR_RETURN(PlannedMemory m, PlanBuffers(module, chip, windows));
#ifndef PTXLA_HLO_BACKEND_COMPILER_KERNEL_WINDOWS_H_
#define PTXLA_HLO_BACKEND_COMPILER_KERNEL_WINDOWS_H_

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "hlo_backend/compiler/compiler.h"
#include "hlo_backend/compiler/schedule_leaves.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

class KernelWindows {
 public:
  // Before any kernel is made: of all of them the scoped limit.
  explicit KernelWindows(const chips::ChipSpec& chip)
      : limit_(chip.vmem().scoped_limit.count()) {}

  void Set(const std::string& name, int64_t bytes) { bytes_[name] = bytes; }
  int64_t Of(const Instruction& i) const {
    const auto it = bytes_.find(i.name());
    return it == bytes_.end() ? limit_ : it->second;
  }
  // And of all that runs in it.
  int64_t Within(const Instruction& i) const;
  // Takes over what is more in `other`; false: nothing is.
  bool Raise(const KernelWindows& other);

 private:
  int64_t limit_ = 0;
  absl::flat_hash_map<std::string, int64_t> bytes_;
};

// What the kernels of a lowered module have, by the instructions of its
// schedule: none but what calls a kernel has any.
KernelWindows WindowsOf(const Module& module, const isa::Program& program,
                        const chips::ChipSpec& chip);

// A plan in which residents lie above the windows of the kernels of their
// lives, not above the scoped limit.
absl::StatusOr<PlannedMemory> PlanBuffers(const Module& scheduled,
                                          const chips::ChipSpec& chip,
                                          const KernelWindows& windows);

// A plan, or, where VMEM has no room for what the module puts there, only
// that: `vmem_overflow`. `windows`: null before they are known.
absl::StatusOr<PlannedMemory> PlanUntilOverflow(const ScheduleLeaves& schedule,
                                                const KernelWindows* windows);

// InvalidArgument: there is no schedule to plan memory for.
absl::Status CheckScheduled(const Module& module);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_COMPILER_KERNEL_WINDOWS_H_
