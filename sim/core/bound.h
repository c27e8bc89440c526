// Where cycles go: every cycle of a program belongs to exactly one bound.
#ifndef PTXLA_SIM_CORE_BOUND_H_
#define PTXLA_SIM_CORE_BOUND_H_

#include <array>
#include <cstdint>
#include <numeric>

namespace ptxla::sim {

enum class Bound : uint8_t {
  kMxu,
  kVpu,
  kHbm,
  kIci,
  kDcn,
  kOverhead,
  kHost,
};
inline constexpr int kNumBounds = 7;

struct BoundCycles {
  std::array<int64_t, kNumBounds> cycles{};

  int64_t& operator[](Bound b) { return cycles[static_cast<int>(b)]; }
  int64_t operator[](Bound b) const { return cycles[static_cast<int>(b)]; }
  int64_t total() const {
    return std::accumulate(cycles.begin(), cycles.end(), int64_t{0});
  }
  void Add(const BoundCycles& o, int64_t times = 1) {
    for (int i = 0; i < kNumBounds; ++i) cycles[i] += o.cycles[i] * times;
  }
  bool operator==(const BoundCycles& o) const { return cycles == o.cycles; }
};

// The cycles for which a core stood still until a DMA was over.
struct WaitCycles {
  int64_t first_load = 0;  // for the blocks of the first grid step
  int64_t loads = 0;       // for those of later ones
  int64_t stores = 0;      // for a slot that is still being written back
  int64_t last_store = 0;  // in the exit
  int64_t semaphores = 0;  // for explicit transfers

  int64_t total() const {
    return first_load + loads + stores + last_store + semaphores;
  }
  void Add(const WaitCycles& o, int64_t times = 1) {
    first_load += o.first_load * times;
    loads += o.loads * times;
    stores += o.stores * times;
    last_store += o.last_store * times;
    semaphores += o.semaphores * times;
  }
};

}  // namespace ptxla::sim

#endif  // PTXLA_SIM_CORE_BOUND_H_
