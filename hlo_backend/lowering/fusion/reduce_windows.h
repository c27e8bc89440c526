// The windows of what reductions leave, and what two cores share of them.
//
// Results of one dimension, and those that are tiles as they come (only planes
// are reduced), move with the grid: a step stores its own. Others have a row of
// a tile for each step along their rows, so that steps meet in the tiles: they
// lie whole in VMEM until the kernel ends, of cores that share the grid each
// its own part.
//
//   f32[2048,4096] reduce(f32[8,2048,4096]), dimensions={0}  // moves
//   f32[8,2048] reduce(f32[8,2048,4096]), dimensions={2}     // columns 0 to
//                    // 1023 of all 8 rows are one core's, the rest the other's
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCE_WINDOWS_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCE_WINDOWS_H_

#include "hlo_backend/lowering/fusion/reduce_tiling.h"

namespace ptxla::lowering {

// A window that is held whole; its number.
int AddWholeWindow(int arg, isa::Direction direction,
                   const PhysicalArray& array, Tiling* tiling);

// The window of the result of `r`, which is argument `arg`. Rows that are
// planes of what is reduced move with the grid where the result is `large`.
void AddReducedWindow(int arg, const Geometry& g, const NestPlan& plan,
                      bool large, Reduction* r, Tiling* tiling);

// Chooses the grid dimension that cores share (SharedDim), of those whose steps
// do not meet in one tile of a result, nor in a result that is not cut. Whole
// windows become each core's part. Where there is none, or the results are
// needed whole for what follows (`whole`), two cores share a reduced dimension,
// if there are several steps of it: each sends its partial results to the
// other.
void ShareReduction(const Geometry& g, int cores, bool whole, ReduceTiling* t);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCE_WINDOWS_H_
