// Static timings of a program's kernels, kept between simulations: those of one
// program under other numbers of memories and links need them only once.
// Simulations that run at the same time may share one.
//
//   TimingCache second;
//   second.Share(first, first_program, second_program);   // equal kernels'
#ifndef PTXLA_SIM_CORE_TIMING_CACHE_H_
#define PTXLA_SIM_CORE_TIMING_CACHE_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "isa/machine_model.h"
#include "isa/program.h"
#include "isa/timing.h"

namespace ptxla::sim {

class TimingCache {
 public:
  // Of program.kernels[kernel]. A cache belongs to one program; machines may
  // differ from call to call.
  const isa::KernelTiming& Get(const isa::Program& program, int kernel,
                               const isa::MachineModel& machine);
  // Takes over the timings of kernels that an earlier program has, too: of
  // programs compiled together equal fingerprints are equal kernels.
  void Share(const TimingCache& theirs, const isa::Program& of_theirs,
             const isa::Program& of_mine);
  // Timings that are known.
  int size() const { return static_cast<int>(timings_.size()); }

 private:
  mutable std::mutex mutex_;
  absl::flat_hash_map<std::pair<uint64_t, int>,
                      std::shared_ptr<const isa::KernelTiming>>
      timings_;
};

}  // namespace ptxla::sim

#endif  // PTXLA_SIM_CORE_TIMING_CACHE_H_
