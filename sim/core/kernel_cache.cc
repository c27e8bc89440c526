#include "sim/core/kernel_cache.h"

#include "base/status.h"
#include "sim/core/in_place.h"

namespace ptxla::sim {

KernelCache::Key KernelCache::KeyOf(const isa::Call& call) const {
  return {call.kernel, call.cores, InPlaceArgs(program_, call)};
}

const KernelPlan& KernelCache::PlanOf(const Key& key) {
  std::unique_ptr<KernelPlan>& plan = plans_[key];
  if (plan == nullptr) {
    const auto& [kernel, cores, in_place] = key;
    plan = std::make_unique<KernelPlan>(
        MakePlan(program_.kernels[kernel],
                 timings_->Get(program_, kernel, device_.machine), cores,
                 device_, in_place));
  }
  return *plan;
}

const KernelPlan& KernelCache::Plan(const isa::Call& call) {
  return PlanOf(KeyOf(call));
}

absl::StatusOr<KernelResult> KernelCache::Result(const isa::Call& call) {
  const Key key = KeyOf(call);
  if (memoize_) {
    auto it = results_.find(key);
    if (it != results_.end()) return it->second;
  }
  ASSIGN_OR_RETURN(KernelResult result,
                   RunAlone(PlanOf(key), device_, memoize_));
  if (memoize_) results_.emplace(key, result);
  return result;
}

absl::StatusOr<KernelResult> KernelCache::CoreResult(const isa::Call& call,
                                                     int core,
                                                     int64_t hbm_rate) {
  Key of_call = KeyOf(call);
  const KernelPlan& plan = PlanOf(of_call);
  if (plan.symmetric) core = 0;
  const std::tuple<Key, int, int64_t> key(std::move(of_call), core, hbm_rate);
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
