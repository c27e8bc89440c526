// Core cycles and SystemC time. An edge of the clock is at the same picosecond
// everywhere, so a time that came from a cycle converts back to it.
#ifndef PTXLA_SIM_SC_SIM_TIME_H_
#define PTXLA_SIM_SC_SIM_TIME_H_

#include <cstdint>
#include <systemc>

#include "base/units.h"

namespace ptxla::sim::sc {

inline sc_core::sc_time TimeOf(int64_t cycle, const Clock& clock) {
  return sc_core::sc_time::from_value(
      static_cast<uint64_t>(clock.ToTime(Cycles(cycle)).count()));
}

// The cycle at or after the present.
inline int64_t NowCycle(const Clock& clock) {
  return clock
      .CyclesCeil(
          Picoseconds(static_cast<int64_t>(sc_core::sc_time_stamp().value())))
      .count();
}

// How long it is from now to `cycle`; zero if it has passed.
inline sc_core::sc_time Until(int64_t cycle, const Clock& clock) {
  const sc_core::sc_time at = TimeOf(cycle, clock);
  const sc_core::sc_time now = sc_core::sc_time_stamp();
  return at > now ? at - now : sc_core::SC_ZERO_TIME;
}

}  // namespace ptxla::sim::sc

#endif  // PTXLA_SIM_SC_SIM_TIME_H_
