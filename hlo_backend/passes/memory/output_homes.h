// Where the results of a computation must lie: outputs of the entry in the
// parameters that were given away for them, the next state of a loop where the
// state lies.
//
//   body (s: (s32[], f32[8])) -> (s32[], f32[8])   homes {s, 0}, {s, 1}
#ifndef PTXLA_HLO_BACKEND_PASSES_MEMORY_OUTPUT_HOMES_H_
#define PTXLA_HLO_BACKEND_PASSES_MEMORY_OUTPUT_HOMES_H_

#include <vector>

#include "hlo_backend/passes/memory/memory_places.h"

namespace ptxla::hlo {

// For each output the place whose memory it must lie in; no maker: its own.
using OutputHomes = std::vector<MemoryPlace>;

// Of the entry and the bodies of loops; of others empty: their outputs have
// memory of their own.
OutputHomes HomesOfOutputs(const Computation& computation);

// Where what lies in `place` has been since its first writer, seen through
// updates in place and what loops pass on; `home`, if it was there on the way.
MemoryPlace OriginOf(MemoryPlace place, const MemoryPlace& home);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_MEMORY_OUTPUT_HOMES_H_
