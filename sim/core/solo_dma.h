// DMA of one core that has the memories to itself (or, in a symmetric pair, a
// fixed share of them): first in first out, so a transfer's end is known when
// it is submitted. The same arithmetic as DmaEngine with one stream, without
// events.
#ifndef PTXLA_SIM_CORE_SOLO_DMA_H_
#define PTXLA_SIM_CORE_SOLO_DMA_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "sim/core/dma_engine.h"

namespace ptxla::sim {

class SoloDma : public DmaPort {
 public:
  // `sharers`: cores that do the same at the same time, this one included.
  // `hbm_rate`: the rate of HBM that the core gets whenever it has work.
  SoloDma(const DeviceModel& device, int sharers, int64_t hbm_rate)
      : device_(device) {
    for (int m = 0; m < kNumMemories; ++m) {
      rate_[m] = std::min(device.core_cap[m],
                          memory::BandwidthServer::kFullRate / sharers);
    }
    rate_[static_cast<int>(Memory::kHbm)] = hbm_rate;
  }

  int64_t Submit(int64_t cycle, const DmaJob& job) override {
    const int m = static_cast<int>(job.memory);
    const int64_t start = std::max(cycle * kTicksPerCycle, free_[m]);
    free_[m] =
        start +
        CeilOfRatio(job.work * memory::BandwidthServer::kFullRate, rate_[m]);
    done_.push_back(CycleAtOrAfter(free_[m] + device_.latency_ticks[m]));
    return static_cast<int64_t>(done_.size()) - 1;
  }
  int64_t DoneCycle(int64_t id) const override { return done_[id]; }

  // Until when the memories are taken, relative to `cycle`; 0 if free by then.
  int64_t BusyAfter(int memory, int64_t cycle) const {
    return std::max<int64_t>(0, free_[memory] - cycle * kTicksPerCycle);
  }
  // As if everything had happened `cycles` later.
  void Shift(int64_t cycles) {
    for (int64_t& free : free_) free += cycles * kTicksPerCycle;
  }

 private:
  const DeviceModel& device_;
  std::array<int64_t, kNumMemories> rate_{};
  std::array<int64_t, kNumMemories> free_{};
  std::vector<int64_t> done_;
};

}  // namespace ptxla::sim

#endif  // PTXLA_SIM_CORE_SOLO_DMA_H_
