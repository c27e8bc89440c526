// How a product of a piece is cut into jobs for the arrays: rows that pass one
// tile of weights. A chain is jobs of the same columns and of one depth after
// the other whose results one array sums up.
//
//   plan.depths = 2, plan.chained = true    // 512 numbers deep on tpu7x
#ifndef PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_BLOCK_ARRAYS_H_
#define PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_BLOCK_ARRAYS_H_

#include <cstdint>

#include "hlo_backend/lowering/custom_calls/block_numbers.h"
#include "hlo_backend/lowering/custom_calls/block_schedule.h"

namespace ptxla::lowering {

struct BlockSchedule::ProductPlan {
  int64_t rows = 1, depth = 1, columns = 1;
  bool transposed = false;  // weights: columns x depth
  int64_t passes = 1;
  int64_t batch = 1;  // products of these sizes, each with its own weights
  BlockNumbers numbers;
  int64_t chunks = 1;             // of rows that pass at once
  int64_t depths = 1, tiles = 1;  // tiles of weights, down and across
  int64_t copies = 1;             // arrays that share the rows of each tile
  bool chained = false;

  // Registers that a job pushes at a time.
  int64_t PushesOf(int64_t depth_index, int64_t tile) const;
  // Of a job of so many chunks.
  int64_t CyclesOf(int64_t depth_index, int64_t tile, int64_t passed) const {
    return PushesOf(depth_index, tile) * numbers.arrays.push_interval +
           passed * numbers.arrays.interval;
  }
  // Passes of all of the batch.
  int64_t Runs() const { return batch * passes; }
  // Place in array_of_.
  int64_t JobOf(int64_t run, int64_t tile, int64_t d, int64_t copy) const {
    return ((run * tiles + tile) * depths + d) * copies + copy;
  }
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_BLOCK_ARRAYS_H_
