// What the choice of a kernel's tiles looked at, for explanations. Written only
// where KernelContext::log points to one: a compile without it pays nothing.
#ifndef PTXLA_HLO_BACKEND_LOWERING_TILING_LOG_H_
#define PTXLA_HLO_BACKEND_LOWERING_TILING_LOG_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ptxla::lowering {

struct TilingCandidate {
  std::string what;         // "block 1x512x1024x2048, grid 1x8x2x1 …"
  int64_t cost_cycles = 0;  // what the choice goes by: the lowest wins
  int64_t step_cycles = 0;  // of one grid step, DMA apart
  int64_t vmem_bytes = 0;
  std::string refused;  // why it cannot be; then the numbers are 0
};

struct TilingLog {
  std::vector<TilingCandidate> candidates;  // as they were tried
  // Tried, kept in `candidates` or not, and those that were too large.
  int64_t considered = 0, too_large = 0;
  // The lowest cost for each number of grid steps.
  std::map<int64_t, int64_t> cost_by_steps;
  std::string chosen;  // `what` of the one that became the kernel
};

inline void AddCost(int64_t steps, int64_t cycles, TilingLog* log) {
  const auto [it, fresh] = log->cost_by_steps.try_emplace(steps, cycles);
  if (!fresh && cycles < it->second) it->second = cycles;
}

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_TILING_LOG_H_
