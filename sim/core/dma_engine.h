// All DMA of one device: each memory is a server whose rate the streams share;
// a transfer is visible to a core at the first core edge after its last byte
// plus the memory's latency. Passive: every call says which cycle it is.
//
// Streams of every memory: one per core, one for asynchronous copies, one for
// collectives.
#ifndef PTXLA_SIM_CORE_DMA_ENGINE_H_
#define PTXLA_SIM_CORE_DMA_ENGINE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "memory_model/bandwidth_server.h"
#include "sim/core/device_model.h"

namespace ptxla::sim {

inline constexpr int64_t kUnknownCycle = -1;

struct DmaJob {
  Memory memory = Memory::kHbm;
  int stream = 0;
  int64_t work = 0;  // ticks for which the memory is occupied
  // For memories that are not ours; `work` follows from them.
  int64_t bytes = 0;
  bool write = false;
};

// Where a core hands over its DMAs.
class DmaPort {
 public:
  virtual ~DmaPort() = default;
  // Starts a transfer at `cycle`, which is not before an earlier call's.
  // Returns its id.
  virtual int64_t Submit(int64_t cycle, const DmaJob& job) = 0;
  // The cycle from which the transfer is visible, or kUnknownCycle while that
  // can still change. May lie in the future.
  virtual int64_t DoneCycle(int64_t id) const = 0;
};

class DmaEngine : public DmaPort {
 public:
  explicit DmaEngine(const DeviceModel& device);

  int copy_stream() const { return device_.cores; }
  int collective_stream() const { return device_.cores + 1; }

  int64_t Submit(int64_t cycle, const DmaJob& job) override {
    return SubmitJob(cycle, job.memory, job.stream, job.work,
                     job.stream < device_.cores
                         ? device_.core_cap[static_cast<int>(job.memory)]
                         : memory::BandwidthServer::kFullRate,
                     device_.latency_ticks[static_cast<int>(job.memory)]);
  }
  // With a rate cap and a latency of its own.
  int64_t SubmitJob(int64_t cycle, Memory memory, int stream, int64_t work,
                    int64_t cap, int64_t latency_ticks);

  void SetCap(int64_t cycle, Memory memory, int stream, int64_t cap) {
    servers_[static_cast<int>(memory)].SetCap(cycle * kTicksPerCycle, stream,
                                              cap);
  }
  // The rate that each of `cores` cores gets from HBM while all of them and
  // what is under way now have work.
  int64_t CoreRate(int cores) const;

  int64_t DoneCycle(int64_t id) const override { return done_cycle_[id]; }
  // Exact end of the service in ticks; only if DoneCycle is known.
  int64_t EndTick(int64_t id) const { return end_tick_[id]; }

  // First cycle at which another transfer's end is known if nothing is
  // submitted before; nullopt if none is under way.
  std::optional<int64_t> NextEvent() const;
  // Moves to `cycle`; ids whose end became known are appended to `ended`.
  void AdvanceTo(int64_t cycle, std::vector<int64_t>* ended = nullptr);

  bool Idle(Memory memory) const {
    return servers_[static_cast<int>(memory)].idle();
  }
  bool AllIdle() const;

 private:
  const DeviceModel& device_;
  std::array<memory::BandwidthServer, kNumMemories> servers_;
  // Job number of a server -> transfer id.
  std::array<std::vector<int64_t>, kNumMemories> id_of_job_;
  std::vector<int64_t> done_cycle_, end_tick_, latency_;
  std::vector<memory::BandwidthServer::Completion> completions_;  // scratch
};

}  // namespace ptxla::sim

#endif  // PTXLA_SIM_CORE_DMA_ENGINE_H_
