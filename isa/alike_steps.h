// Grid steps of a core that are alike: the same first/last flags, and for every
// window the same transfers of the same size to start. Long grids repeat a few
// of them in a pattern, which is found from the indices of one dimension at a
// time: the cost is that of the bounds of the grid added, not multiplied.
//
//   GridWalk walk(kernel, core, cores);
//   std::vector<int32_t> sort =
//       NumberAlikeSteps(kernel, &walk, [&](const GridWalk& at) {
//         return SortOf(at);   // of one step for all that are like it
//       });
//   sort[s]                    // of step s
#ifndef PTXLA_ISA_ALIKE_STEPS_H_
#define PTXLA_ISA_ALIKE_STEPS_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "isa/grid.h"

namespace ptxla::isa {

// `number` is called in the order of steps, with `walk` at the first of those
// that are alike within the same indices of outer dimensions (steps that are
// alike may be asked for several times); `walk` ends anywhere.
std::vector<int32_t> NumberAlikeSteps(
    const Kernel& kernel, GridWalk* walk,
    absl::FunctionRef<int32_t(const GridWalk&)> number);

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_ALIKE_STEPS_H_
