// What becomes of each instruction of a module on the simulated TPU, found out
// by compiling it: the same answer that `run` gives.
//
//   ASSIGN_OR_RETURN(ModuleSupport s, SupportOf(*module, slice));
//   s.Of(*dot) == OpSupport::kKernel;
//   s.refused[0].reason    // "a batch dimension inside is not lowered"
#ifndef PTXLA_DRIVER_MODULE_SUPPORT_H_
#define PTXLA_DRIVER_MODULE_SUPPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "chips/topology.h"
#include "driver/op_coverage.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::driver {

// One kernel of the compiled module that cannot be made: `run` stops at it, or
// takes a roofline time with --unknown-ops=estimate.
struct RefusedKernel {
  // First instruction of the file in it, and of what kind it is.
  const hlo::Instruction* instruction = nullptr;
  std::string name, opcode;  // as compiled: "add_fusion", "fusion"
  std::string reason;
  int64_t calls = 0;  // in the schedule; equal instructions share a kernel
};

struct ModuleSupport {
  // Of each instruction that is found again in the compiled module, alone or
  // as part of a fusion; the others were simplified away.
  absl::flat_hash_map<const hlo::Instruction*, OpSupport> found;
  std::vector<RefusedKernel> refused;  // in the order of the schedule
  // Loops whose number of iterations depends on data, constants whose values
  // were left out: `run` stops at them.
  std::vector<const hlo::Instruction*> unknown_loops;
  int64_t elided_constants = 0;
  // What stops `run` even with --unknown-ops=estimate; OK: nothing.
  absl::Status blocked;
  int64_t kernels = 0, distinct_kernels = 0;

  // Nothing for what is not found again.
  std::optional<OpSupport> Of(const hlo::Instruction& instruction) const;
};

ModuleSupport SupportOf(const hlo::Module& module, const chips::Slice& slice);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_MODULE_SUPPORT_H_
