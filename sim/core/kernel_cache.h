// Plans and results of kernels: made on first use, kept for the program. A
// kernel that is called again on as many cores, with the same arguments updated
// in place, takes as long again, because its pipeline is empty when it starts
// and when it ends.
#ifndef PTXLA_SIM_CORE_KERNEL_CACHE_H_
#define PTXLA_SIM_CORE_KERNEL_CACHE_H_

#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "isa/program.h"
#include "sim/core/device_model.h"
#include "sim/core/kernel_plan.h"
#include "sim/core/kernel_runner.h"
#include "sim/core/timing_cache.h"

namespace ptxla::sim {

class KernelCache {
 public:
  // `program` and `device` outlive the cache. With memoize off every request
  // computes its result anew, step by step.
  // `timings`: of earlier simulations of the program; or null.
  KernelCache(const isa::Program& program, const DeviceModel& device,
              bool memoize, TimingCache* timings = nullptr)
      : program_(program),
        device_(device),
        memoize_(memoize),
        timings_(timings == nullptr ? &own_timings_ : timings) {}

  const KernelPlan& Plan(const isa::Call& call);
  // RunAlone of that plan.
  absl::StatusOr<KernelResult> Result(const isa::Call& call);
  // RunCore of that plan; cores that do the same share their result.
  absl::StatusOr<KernelResult> CoreResult(const isa::Call& call, int core,
                                          int64_t hbm_rate);

 private:
  // Kernel, cores, arguments that are updated in place.
  using Key = std::tuple<int, int, std::vector<bool>>;
  Key KeyOf(const isa::Call& call) const;
  const KernelPlan& PlanOf(const Key& key);

  const isa::Program& program_;
  const DeviceModel& device_;
  const bool memoize_;
  TimingCache own_timings_;
  TimingCache* timings_;
  absl::flat_hash_map<Key, std::unique_ptr<KernelPlan>> plans_;
  absl::flat_hash_map<Key, KernelResult> results_;
  // Key, core, rate.
  absl::flat_hash_map<std::tuple<Key, int, int64_t>, KernelResult>
      core_results_;
};

}  // namespace ptxla::sim

#endif  // PTXLA_SIM_CORE_KERNEL_CACHE_H_
