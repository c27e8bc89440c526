// How long a kernel takes when nothing but its own cores uses the memories, or
// one of its cores when something else takes a constant share of HBM all the
// time.
// One core, and cores that do the same in step, run by the exact recurrence
// with a jump over steady states; cores that differ run event by event.
#ifndef PTXLA_SIM_CORE_KERNEL_RUNNER_H_
#define PTXLA_SIM_CORE_KERNEL_RUNNER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/core/bound.h"
#include "sim/core/kernel_plan.h"
#include "sim/core/kernel_process.h"

namespace ptxla::sim {

using ProcessList = std::vector<std::unique_ptr<CoreProcess>>;

struct KernelResult {
  int64_t cycles = 0;          // until the last core has ended
  BoundCycles bounds;          // of the core that ends last; sums to cycles
  UnitUse use;                 // of that core
  WaitCycles waits;            // of that core
  int core = 0;                // that core
  int64_t computed_steps = 0;  // not skipped by the jump
};

// FailedPrecondition: the kernel waits for something that never comes.
absl::StatusOr<KernelResult> RunAlone(const KernelPlan& plan,
                                      const DeviceModel& device,
                                      bool jump = true);

// `core` of the kernel, which gets `hbm_rate` (DmaEngine::CoreRate) of the HBM
// while its transfers are served.
absl::StatusOr<KernelResult> RunCore(const KernelPlan& plan,
                                     const DeviceModel& device, int core,
                                     int64_t hbm_rate, bool jump = true);

// Runs the processes of one kernel to their end on `dma`, which is at the cycle
// at which they start. Adds the number of resumptions to `events`.
absl::Status RunTogether(const ProcessList& processes, DmaEngine* dma,
                         int64_t* events);

// The result of processes that have ended.
KernelResult ResultOf(const ProcessList& processes);

}  // namespace ptxla::sim

#endif  // PTXLA_SIM_CORE_KERNEL_RUNNER_H_
