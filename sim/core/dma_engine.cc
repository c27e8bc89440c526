#include "sim/core/dma_engine.h"

#include <algorithm>

namespace ptxla::sim {

using memory::BandwidthServer;

DmaEngine::DmaEngine(const DeviceModel& device)
    : device_(device),
      servers_{BandwidthServer(device.cores + 2),
               BandwidthServer(device.cores + 2),
               BandwidthServer(device.cores + 2)} {}

int64_t DmaEngine::SubmitJob(int64_t cycle, Memory memory, int stream,
                             int64_t work, int64_t cap, int64_t latency_ticks) {
  AdvanceTo(cycle);
  const int m = static_cast<int>(memory);
  const int64_t job =
      servers_[m].Submit(cycle * kTicksPerCycle, stream, work, cap);
  const int64_t id = static_cast<int64_t>(done_cycle_.size());
  id_of_job_[m].resize(job + 1);
  id_of_job_[m][job] = id;
  done_cycle_.push_back(kUnknownCycle);
  end_tick_.push_back(kUnknownCycle);
  latency_.push_back(latency_ticks);
  return id;
}

std::optional<int64_t> DmaEngine::NextEvent() const {
  std::optional<int64_t> next;
  for (const BandwidthServer& server : servers_) {
    if (std::optional<int64_t> t = server.NextCompletion()) {
      const int64_t cycle = CycleAtOrAfter(*t);
      next = next ? std::min(*next, cycle) : cycle;
    }
  }
  return next;
}

void DmaEngine::AdvanceTo(int64_t cycle, std::vector<int64_t>* ended) {
  for (int m = 0; m < kNumMemories; ++m) {
    completions_.clear();
    servers_[m].AdvanceTo(cycle * kTicksPerCycle, &completions_);
    for (const BandwidthServer::Completion& c : completions_) {
      const int64_t id = id_of_job_[m][c.job];
      end_tick_[id] = c.time;
      done_cycle_[id] = CycleAtOrAfter(c.time + latency_[id]);
      if (ended != nullptr) ended->push_back(id);
    }
  }
}

int64_t DmaEngine::CoreRate(int cores) const {
  std::vector<int64_t> caps(cores,
                            device_.core_cap[static_cast<int>(Memory::kHbm)]);
  for (int stream : {copy_stream(), collective_stream()}) {
    caps.push_back(servers_[static_cast<int>(Memory::kHbm)].CapOf(stream));
  }
  return BandwidthServer::ShareOf(caps)[0];
}

bool DmaEngine::AllIdle() const {
  return std::all_of(servers_.begin(), servers_.end(),
                     [](const BandwidthServer& s) { return s.idle(); });
}

}  // namespace ptxla::sim
