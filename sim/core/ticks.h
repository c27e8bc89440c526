// The simulator's time. A core's time is a whole number of cycles from the
// start of the program. Memories and links are finer: a tick is 1/1024 cycle,
// so that rounding the length of a transfer costs nothing visible, and so that
// a situation at cycle 5 and the same one at cycle 5,000,000 unfold alike,
// which picoseconds of a 1.5 GHz clock would not give.
#ifndef PTXLA_SIM_CORE_TICKS_H_
#define PTXLA_SIM_CORE_TICKS_H_

#include <cmath>
#include <cstdint>

#include "base/units.h"

namespace ptxla::sim {

inline constexpr int64_t kTicksPerCycle = 1024;

// Length of `t` in ticks, rounded up.
inline int64_t ToTicks(Picoseconds t, const Clock& clock) {
  // In this order a whole number of cycles comes out whole.
  return static_cast<int64_t>(
      std::ceil(static_cast<double>(t.count()) * clock.frequency().count() /
                kPicosecondsPerSecond * kTicksPerCycle));
}

// The first core edge at or after `ticks`.
inline int64_t CycleAtOrAfter(int64_t ticks) {
  return CeilOfRatio(ticks, kTicksPerCycle);
}

}  // namespace ptxla::sim

#endif  // PTXLA_SIM_CORE_TICKS_H_
