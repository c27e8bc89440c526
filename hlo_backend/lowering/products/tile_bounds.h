// How often the search of a product's tiles cuts a dimension, and how its MXUs
// may share a step.
//
//   GridBounds(1000, 1)      // 1, 2, 3, 4, 5, 6, 8, 10, 12, ... steps
//   BoundsNear(1000, 1, 10)  // 9 and 11, between the coarse 8 and 12
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_TILE_BOUNDS_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_TILE_BOUNDS_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/products/product_problem.h"

namespace ptxla::lowering {

// Coarse numbers of steps along `extent`, of blocks of whole units, each with
// other blocks.
std::vector<int64_t> GridBounds(int64_t extent, int64_t unit);
// Those near `bound` that the coarse ones leave out, 16 at most.
std::vector<int64_t> BoundsNear(int64_t extent, int64_t unit, int64_t bound);

// Batch members of a step. Those that lie in rows of tiles come by whole tiles
// that all have 8, or all of them at a time.
std::vector<int64_t> BatchBlocks(const ProductProblem& p);

// MXUs that take different batch members, columns and rows.
struct MxuSplit {
  int b, n, m;
};
std::vector<MxuSplit> MxuSplits(int mxus);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_TILE_BOUNDS_H_
