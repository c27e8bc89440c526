// A window of what lies in VMEM until a kernel ends, where the cores of a chip
// share its grid: a core's slot takes its own part of the array alone.
//
//   d = CorePart({bound, grid_dim, cores}, 8, 128, 16, 4096);
//   // 8 rows a step, tiles of 128 rows, 16 of them 4,096 bytes apart
#ifndef PTXLA_HLO_BACKEND_LOWERING_CORE_WINDOW_H_
#define PTXLA_HLO_BACKEND_LOWERING_CORE_WINDOW_H_

#include <cstdint>

#include "base/units.h"
#include "hlo_backend/lowering/codegen/builder.h"
#include "isa/kernel.h"

namespace ptxla::lowering {

// The dimension of the grid that cores share. Core c begins with step
// bound * c / cores.
struct SharedSteps {
  int64_t bound = 1;
  int grid_dim = -1;
  int cores = 1;

  int64_t FirstOfSecondCore() const { return bound / cores; }
  int64_t Most() const { return CeilOfRatio<int64_t>(bound, cores); }
  // Parts of more than two cores have to be of one size; the border between two
  // lies between units of `in_unit`, of which a step makes `of_step`.
  bool HasBorder(int64_t of_step, int64_t in_unit) const {
    return (bound % cores == 0 || cores == 2) &&
           FirstOfSecondCore() * of_step % in_unit == 0;
  }
};

// A dimension of `extent` units, `stride` bytes apart, that moves from core to
// core. A first part that is smaller begins in front of the array.
isa::WindowDim CorePart(const SharedSteps& steps, int64_t of_step,
                        int64_t in_unit, int64_t extent, int64_t stride);

// Where the whole array would begin whose part lies at `slot`, so that
// addresses in it need not know of parts; in the open block.
codegen::Sca WholeBase(codegen::Sca slot, const isa::WindowDim& part,
                       const SharedSteps& steps, codegen::CodeBuilder& b);

// The dimension of a grid that cores share: where the one that has most has
// fewest steps; of several the one with most indices, of these the outermost.
// -1: there is one step. (On one core the first that has steps.)
//
//   SharedDim({9, 2}, 2) == 1       // 9 steps each, not 10 and 8
//   SharedDim({7, 4, 38, 1}, 2) == 2
//
// (libtpu 0.0.42.1 on v5p: all of 108 loops, 39 of them with an odd outermost
// dimension or several even ones.)
int SharedDim(absl::Span<const int64_t> grid, int cores);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CORE_WINDOW_H_
