// Where a maximum or minimum lies: the second of the two reduces that an argmax
// becomes (passes/expanders/argmax_expander.h).
//
//   best = max(x);  position = min over (x == best or x is NaN ? index : last)
//
// Both can be made in one pass over x, which is why fusion and lowering ask for
// it.
//
//   if (const auto found = FindExtremumPosition(*reduce)) Join(found->best);
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_EXTREMUM_POSITION_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_EXTREMUM_POSITION_H_

#include <optional>

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

struct ExtremumPosition {
  // A maximum or minimum of `values` over one dimension: floats or integers of
  // at most 32 bits.
  const Instruction* best = nullptr;
  const Instruction* values = nullptr;
  // s32, of the shape of the values: counts along that dimension from 0.
  const Instruction* index = nullptr;
};

// Nothing if `reduce` is another one.
std::optional<ExtremumPosition> FindExtremumPosition(const Instruction& reduce);

// Nobody reads the extremum but such positions and the root tuple, so it need
// not be finished before the positions are sought.
bool IsForPositionsOnly(const Instruction& best);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_EXTREMUM_POSITION_H_
