// A concatenation takes its parts where they are: slices and concatenations
// that nobody else reads become one kernel with it.
//
//   concatenate(slice(x, [3:2048]), slice(x, [0:3]))     // a roll by 3 rows
//
// reads and writes each element once. Parts may begin inside of tiles.
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_JOINED_SLICES_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_JOINED_SLICES_H_

#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

// True if something became one. On a computation with layouts.
bool FuseJoinedSlices(Computation* computation);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_JOINED_SLICES_H_
