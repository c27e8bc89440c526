#include "sim/core/kernel_cache.h"

#include "base/status.h"

namespace ptxla::sim {

const KernelPlan& KernelCache::Plan(int kernel, int cores) {
  std::unique_ptr<KernelPlan>& plan = plans_[{kernel, cores}];
  if (plan == nullptr) {
    plan = std::make_unique<KernelPlan>(MakePlan(
        program_.kernels[kernel],
        timings_->Get(program_, kernel, device_.machine), cores, device_));
  }
  return *plan;
}

absl::StatusOr<KernelResult> KernelCache::Result(int kernel, int cores) {
  const Key key(kernel, cores);
  if (memoize_) {
    auto it = results_.find(key);
    if (it != results_.end()) return it->second;
  }
  ASSIGN_OR_RETURN(KernelResult result,
                   RunAlone(Plan(kernel, cores), device_, memoize_));
  if (memoize_) results_.emplace(key, result);
  return result;
}

absl::StatusOr<KernelResult> KernelCache::CoreResult(int kernel, int cores,
                                                     int core,
                                                     int64_t hbm_rate) {
  const KernelPlan& plan = Plan(kernel, cores);
  if (plan.symmetric) core = 0;
  const std::tuple<Key, int, int64_t> key({kernel, cores}, core, hbm_rate);
  if (memoize_) {
    auto it = core_results_.find(key);
    if (it != core_results_.end()) return it->second;
  }
  ASSIGN_OR_RETURN(KernelResult result,
                   RunCore(plan, device_, core, hbm_rate, memoize_));
  if (memoize_) core_results_.emplace(key, result);
  return result;
}

}  // namespace ptxla::sim
