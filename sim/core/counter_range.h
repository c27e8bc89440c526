// What 64 bits hold: the clock of a run, and the counts of loops whose
// iterations are not walked one by one.
//
//   int64_t rest = cycles;
//   const bool fits = Multiply(iterations, &rest) && rest <= kLastCycle - now;
#ifndef PTXLA_SIM_CORE_COUNTER_RANGE_H_
#define PTXLA_SIM_CORE_COUNTER_RANGE_H_

#include <cstddef>
#include <cstdint>
#include <limits>

#include "isa/program.h"
#include "sim/core/recorder.h"
#include "sim/core/ticks.h"

namespace ptxla::sim {

// Later cycles do not fit into ticks or picoseconds; the last one is weeks away
// on every chip.
constexpr int64_t kLastCycle =
    std::numeric_limits<int64_t>::max() / (2 * kTicksPerCycle);

// False where the product does not fit.
bool Multiply(int64_t by, int64_t* value);

// What was recorded from these on ran so many times; false: beyond 64 bits.
bool Repeat(int64_t times, size_t first_op, size_t first_transfer,
            Recorder* recorder);

// Operations and bytes of all executions fit.
bool CountsFit(const isa::Program& program, const Recorder& recorder);

}  // namespace ptxla::sim

#endif  // PTXLA_SIM_CORE_COUNTER_RANGE_H_
