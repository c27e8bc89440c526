// Windows of a product in the order in which the TPU compiler would have them.
//
//   for (const RankedWindow& w : RankedWindows(p, arrays, limits, {16, {1}}))
//     ...  // w.tile: its blocks, MXUs undivided; the first that fits is taken
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_RANKED_WINDOWS_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_RANKED_WINDOWS_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/products/product_tiling.h"

namespace ptxla::lowering {

struct RankedWindow {
  int64_t cost = 0;  // WindowCost, cycles
  ProductTile tile;
};

// What steps may take.
struct WindowUnits {
  int64_t rows = 16;           // of a block, where several share M
  std::vector<int64_t> batch;  // members of a block
};

// The cheapest of all ways to cut the product, by WindowCost of
// `limits.windows`; at most 256. Blocks of an odd number of 8 rows have 8 more
// here, unless they may end within a register.
std::vector<RankedWindow> RankedWindows(const ProductProblem& p,
                                        const ArrayShape& a,
                                        const ProductLimits& limits,
                                        const WindowUnits& units);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_RANKED_WINDOWS_H_
