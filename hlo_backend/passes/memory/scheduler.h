// Chooses the order in which every computation runs, and marks the module
// scheduled.
//
// Two orders are tried: operands before users as the root asks for them, and a
// list schedule that takes, of what is ready, what frees the most memory. In
// both, what takes more memory than it can free waits until right before its
// first user (random bits, broadcasts). The one with the lower peak wins (the
// first when equal). Starts of asynchronous instructions run as soon as they
// can, their dones as late as they can (async_spreader.h), if that takes hardly
// more memory.
// Near-linear; works without a cost model.
#ifndef PTXLA_HLO_BACKEND_PASSES_MEMORY_SCHEDULER_H_
#define PTXLA_HLO_BACKEND_PASSES_MEMORY_SCHEDULER_H_

#include <vector>

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class SchedulerPass : public Pass {
 public:
  absl::string_view name() const override { return "scheduler"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

// What frees most memory first, among what is ready.
std::vector<Instruction*> ListSchedule(const Computation& computation);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_MEMORY_SCHEDULER_H_
