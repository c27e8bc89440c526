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

}  // namespace ptxla::sim

#endif  // PTXLA_SIM_CORE_BOUND_H_
