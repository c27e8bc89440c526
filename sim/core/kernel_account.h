// Where the cycles of one kernel went when it ran alone: every cycle of the
// core that ended last has one cause, and they sum to the kernel's time. The
// waits are those that the simulation met; the rest is what the bundles do.
//
//   ASSIGN_OR_RETURN(KernelAccount a, AccountFor(kernel, cores, slice));
//   a.code.Total() + a.waits.total() == a.cycles
#ifndef PTXLA_SIM_CORE_KERNEL_ACCOUNT_H_
#define PTXLA_SIM_CORE_KERNEL_ACCOUNT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "chips/topology.h"
#include "isa/cycle_causes.h"
#include "isa/kernel.h"
#include "sim/core/bound.h"

namespace ptxla::sim {

struct KernelAccount {
  int64_t cycles = 0;  // of the kernel alone
  int core = 0, cores = 1;
  isa::MainUnit main;

  // Steps of that core that run the same code.
  struct StepClass {
    uint32_t flags = 0;
    int64_t steps = 0;
    isa::CodeAccount code;  // of one step
  };
  isa::CodeAccount entry, exit;
  std::vector<StepClass> steps;

  isa::CycleCauses code;  // of all of them together
  WaitCycles waits;
  isa::Profile use;  // slots and units over the whole run; no events
  int64_t grid_steps = 0, all_grid_steps = 0;  // of that core; of all cores

  // Through HBM, all cores; and for how long that kept it busy for this core.
  int64_t hbm_bytes = 0, hbm_write_bytes = 0, hbm_busy_cycles = 0;
};

// `in_place`: InPlaceArgs of the call.
absl::StatusOr<KernelAccount> AccountFor(const isa::Kernel& kernel, int cores,
                                         const chips::Slice& slice,
                                         std::vector<bool> in_place = {});

}  // namespace ptxla::sim

#endif  // PTXLA_SIM_CORE_KERNEL_ACCOUNT_H_
