#include "sim/core/timing_cache.h"

#include "base/hash.h"

namespace ptxla::sim {
namespace {

// Everything of a machine that timing reads.
uint64_t TimingKey(const isa::MachineModel& m) {
  Fingerprint print;
  for (int64_t n : {m.mxus, m.mxu_rows, m.mxu_cols, m.staging, m.xlus,
                    m.load_store_total, m.vmem_banks, m.branch_delay_slots}) {
    print.Add(n);
  }
  for (int n : m.slots) print.Add(int64_t{n});
  for (const auto& of_unit : m.latency) {
    for (int n : of_unit) print.Add(int64_t{n});
  }
  for (int n : m.interval) print.Add(int64_t{n});
  return print.value();
}

}  // namespace

const isa::KernelTiming& TimingCache::Get(const isa::Program& program,
                                          int kernel,
                                          const isa::MachineModel& machine) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::shared_ptr<const isa::KernelTiming>& timing =
      timings_[{TimingKey(machine), kernel}];
  if (timing == nullptr) {
    timing = std::make_shared<const isa::KernelTiming>(
        isa::TimeKernel(program.kernels[kernel], machine));
  }
  return *timing;
}

void TimingCache::Share(const TimingCache& theirs,
                        const isa::Program& of_theirs,
                        const isa::Program& of_mine) {
  absl::flat_hash_map<uint64_t, int> mine;
  for (size_t k = 0; k < of_mine.kernels.size(); ++k) {
    const uint64_t fingerprint = of_mine.kernels[k].fingerprint;
    if (fingerprint != 0) mine.emplace(fingerprint, static_cast<int>(k));
  }
  const std::scoped_lock lock(mutex_, theirs.mutex_);
  for (const auto& [key, timing] : theirs.timings_) {
    const auto& [machine, kernel] = key;
    const auto it = mine.find(of_theirs.kernels[kernel].fingerprint);
    if (it != mine.end())
      timings_.emplace(std::pair(machine, it->second), timing);
  }
}

}  // namespace ptxla::sim
