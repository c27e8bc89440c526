// How many base tiles (of 8 x 128 values) of each axis a grid step of a fusion
// has.
//
//   add of f32[4096,4096], 128 tiles:         4 x 32, whole rows
//   add of f32[4096,3072], 128 tiles:         16 x 8 of 512 x 24, unpadded
//   f32[8192] reduce(f32[8192,768]), 1,024:   512 x 2 of 1,024 x 6 in 6 steps,
//                                             where 160 x 6 make 7
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_STEP_BLOCKS_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_STEP_BLOCKS_H_

#include <cstdint>
#include <vector>

#include "chips/chip_spec.h"
#include "hlo_backend/lowering/fusion/geometry.h"

namespace ptxla::lowering {

struct StepLimits {
  int64_t tiles = 1024;  // of a step
  // Or so many: in plain loops where that is worth `policy.step_excess_cost`,
  // in others where groups of rows are larger.
  int64_t most = 1024;
  int cores = 1;
  bool whole_reduced = false;  // a step has all of what is reduced
};

// A step is what makes all of them cheapest: few, with little padding. Of equal
// choices elementwise work has wide blocks, as memory is read in long runs;
// values for each row want wide ones and values for each column high ones, as
// these stay in registers; and a reduction reduces most in a step, as partial
// results are stored and loaded in between. (Windows of libtpu 0.0.42.1: 108
// loops each on v5e to tpu7x, of which 89 to 94 % have as many steps; 42
// reductions of every set of dimensions, alone and in fusions, 22 products of
// one row, 60 loops with operands of one dimension on v6e; sums of 31 arrays
// over planes on v5e and v5p; `policy.step_*`. More dimensions than a window
// has: whole rows.)
std::vector<int64_t> StepBlocks(const chips::ChipSpec& chip, const Geometry& g,
                                const StepLimits& limits);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_STEP_BLOCKS_H_
