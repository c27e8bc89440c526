#include "sim/core/kernel_account.h"

#include <utility>

#include "base/status.h"
#include "isa/timing.h"
#include "sim/core/device_model.h"
#include "sim/core/kernel_plan.h"
#include "sim/core/kernel_runner.h"
#include "sim/core/ticks.h"

namespace ptxla::sim {
namespace {

void AddUse(const isa::Profile& from, int64_t times, isa::Profile* to) {
  to->cycles += times * from.cycles;
  to->bundles += times * from.bundles;
  for (int s = 0; s < isa::kNumSlots; ++s) {
    to->slot_uses[s] += times * from.slot_uses[s];
  }
  for (int u = 0; u < isa::kNumUnits; ++u) {
    to->unit_busy[u] += times * from.unit_busy[u];
  }
}

}  // namespace

absl::StatusOr<KernelAccount> AccountFor(const isa::Kernel& kernel, int cores,
                                         const chips::Slice& slice,
                                         std::vector<bool> in_place) {
  const DeviceModel device(slice);
  const isa::MachineModel& machine = device.machine;
  const isa::KernelTiming timing = isa::TimeKernel(kernel, machine);
  const KernelPlan plan =
      MakePlan(kernel, timing, cores, device, std::move(in_place));
  ASSIGN_OR_RETURN(const KernelResult result, RunAlone(plan, device));

  KernelAccount a;
  a.cycles = result.cycles;
  a.core = result.core;
  a.cores = cores;
  a.waits = result.waits;
  a.hbm_bytes = plan.hbm_bytes;
  a.hbm_write_bytes = plan.write_bytes;
  a.hbm_busy_cycles = CycleAtOrAfter(plan.hbm_work[a.core]);
  const std::vector<int64_t> steps =
      timing.StepsPerClass(kernel, a.core, cores);
  AddUse(timing.entry, 1, &a.use);
  AddUse(timing.exit, 1, &a.use);
  for (size_t c = 0; c < steps.size(); ++c) {
    AddUse(timing.classes[c].profile, steps[c], &a.use);
    a.grid_steps += steps[c];
  }
  a.all_grid_steps = kernel.NumSteps();

  a.main = isa::MainUnitOf(a.use, machine);
  a.entry = isa::AccountOf(kernel.entry, machine, a.main);
  a.exit = isa::AccountOf(kernel.exit, machine, a.main);
  a.code.Add(a.entry.total, 1);
  a.code.Add(a.exit.total, 1);
  for (size_t c = 0; c < steps.size(); ++c) {
    if (steps[c] == 0) continue;
    const uint32_t flags = timing.classes[c].flags;
    a.steps.push_back(
        {flags, steps[c], isa::AccountOf(kernel.step, machine, a.main, flags)});
    a.code.Add(a.steps.back().code.total, steps[c]);
  }
  return a;
}

}  // namespace ptxla::sim
