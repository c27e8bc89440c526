// Into which blocks of word rows a movement's steps cut its result.
//
//   auto blocks = ChooseRowBlocks(args, false, budget, &plan);
//   blocks->result_rows    // of a step; the last one may be cut off
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_ROW_BLOCKS_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_ROW_BLOCKS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo_backend/lowering/movement/row_plan.h"
#include "isa/kernel.h"

namespace ptxla::lowering {

// VMEM of a slot of so many word rows.
int64_t RowBlockBytes(int64_t rows);

// The smallest number of equal steps that keeps code and VMEM (`budget` bytes)
// small; if there is none, or all are short, blocks of whole rows of tiles, of
// which the last is cut off, in VMEM moved back. `columns`: the plan is that of
// some columns, and steps of others follow; then in whole rows of tiles.
// Nothing: no blocks that look alike fit. `args`: the operands, then the
// result.
std::optional<RowPlan::Blocks> ChooseRowBlocks(
    const std::vector<isa::KernelArg>& args, bool columns, int64_t budget,
    RowPlan* plan);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_ROW_BLOCKS_H_
