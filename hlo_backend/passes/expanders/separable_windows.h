// A window over several dimensions as one after the other, where planes of the
// array would be mostly padding: of images without features the batch alone is
// left for the lanes. XLA's TPU compiler takes such a window over rows, turns
// the result and takes it over rows again.
//
//   reduce-window f32[8,512,512], 1x9x9
//     ->  y = reduce-window f32[8,512,512], 1x9x1
//         reduce-window y, 1x1x9
//
// Windows that become slices (window_expander.h) have a slice for each position
// of each dimension then, and not of all dimensions together. Sums and products
// of narrow floats are f32 on the way.
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_SEPARABLE_WINDOWS_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_SEPARABLE_WINDOWS_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// The value that stands for a reduce-window of one array by a single operation;
// null: it is none, or cheaper as it is. `with_convolutions`: the computation
// has some, whose order of dimensions its planes have (window_canonicalizer.h).
Instruction* SeparatedWindow(Instruction* i, bool with_convolutions,
                             int generation);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_SEPARABLE_WINDOWS_H_
