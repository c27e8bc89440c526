// Results that come to VMEM when kernels have been made: those that the parts
// of a fusion hand on, which were registers in it, and what found no room while
// windows were not known. Their kernels have other windows then, so memory is
// planned and kernels are made once more, until nothing moves.
//
//   LateResidents residents(module, chip);
//   do {
//     plan(residents.windows()); program = lower();
//   } while (residents.Move(program, crowded_out));
#ifndef PTXLA_HLO_BACKEND_COMPILER_LATE_RESIDENTS_H_
#define PTXLA_HLO_BACKEND_COMPILER_LATE_RESIDENTS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "chips/chip_spec.h"
#include "hlo_backend/compiler/kernel_windows.h"
#include "hlo_backend/ir/module.h"
#include "hlo_backend/passes/memory/memory_space_assignment.h"
#include "isa/program.h"

namespace ptxla::hlo {

class LateResidents {
 public:
  // Both outlive it. `module` as it was scheduled.
  LateResidents(Module* module, const chips::ChipSpec& chip);

  // Of the kernels made last, where residents were placed beside them.
  const std::optional<KernelWindows>& windows() const { return windows_; }

  // Moves what may lie elsewhere beside the kernels of `program`; true if that
  // changes kernels or the plan. `crowded_out`: whole names of what the
  // schedule had in VMEM and the plan did not.
  bool Move(const isa::Program& program,
            const absl::flat_hash_set<std::string>& crowded_out);

  // What kernels touch that are refused so goes back to HBM. False: they touch
  // none.
  bool GiveBack(absl::FunctionRef<bool(const Instruction&)> refused);

 private:
  using Placed = std::optional<std::vector<KernelResult>>;

  void PutParts();
  void PutWhereWindowsAreSmall(
      const KernelWindows& windows,
      const absl::flat_hash_set<std::string>& crowded_out);

  Module* const module_;
  const chips::ChipSpec& chip_;
  const bool fits_;  // the schedule, in VMEM beside scoped memory
  // In the order in which they are placed, once each.
  Placed parts_, beside_windows_;
  std::optional<KernelWindows> windows_;
  int plans_by_windows_ = 0;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_COMPILER_LATE_RESIDENTS_H_
