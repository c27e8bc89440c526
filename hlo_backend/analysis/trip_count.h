// How often a `while` runs.
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_TRIP_COUNT_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_TRIP_COUNT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

struct TripCount {
  int64_t count = 0;
  // "known_trip_count" (written in the module) or "induction variable 3 from
  // 0 to 10 by 1" (derived).
  std::string reason;
  // Tuple index of the induction variable; -1 when not known.
  int64_t induction_index = -1;
  int64_t init = 0, step = 0;
};

// From backend_config's known_trip_count, else from an induction variable: an
// element of the tuple that starts as a constant, is compared with a constant
// in the condition, and changes by a constant in the body; else by computing
// the scalars that decide it (counted_loop.h). Nothing when none holds: the
// count depends on data.
std::optional<TripCount> TripCountOf(const Instruction& while_instruction);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_TRIP_COUNT_H_
