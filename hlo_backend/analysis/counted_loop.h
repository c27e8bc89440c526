// How often a loop runs whose condition depends on scalars alone that it starts
// with and counts: they are computed, iteration by iteration. Whatever form the
// counting has: a 64-bit number in two words, a flag, steps that change.
//
//   CountByRunning(while of (i=0, done=false), i < 4 && !done)   // 4
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_COUNTED_LOOP_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_COUNTED_LOOP_H_

#include <cstdint>
#include <optional>

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Nothing: data decide, or it runs longer than this looks (2^16 iterations).
std::optional<int64_t> CountByRunning(const Instruction& loop);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_COUNTED_LOOP_H_
