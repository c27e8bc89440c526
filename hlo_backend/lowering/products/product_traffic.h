// What the windows of a product move over its grid, and the VMEM that its
// blocks take.
//
//   const ProductTraffic traffic = ProductTraffic::Of(p, tile, arrays, true);
//   traffic.lhs_fetches * traffic.lhs_bytes      // from HBM, of the whole grid
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_TRAFFIC_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_TRAFFIC_H_

#include <cstdint>

#include "hlo_backend/lowering/products/product_tiling.h"

namespace ptxla::lowering {

// The operand's values are computed or converted before the arrays have them.
inline bool Converts(const ProductOperand& o) { return o.computed || o.slow; }

// A block's sizes in whole registers and tiles of the arrays.
struct PaddedBlock {
  int64_t rows = 0, cols = 0, depth = 0;
  static PaddedBlock Of(const ProductTile& t, const ArrayShape& a);
};

// What an epilogue reads for several members at once.
struct SharedReads {
  int64_t fetches = 0;                // of the window that moves most often
  int64_t bytes = 0, vmem_bytes = 0;  // of all
};

struct ProductTraffic {
  // Of a block.
  int64_t lhs_bytes = 0, rhs_bytes = 0, out_bytes = 0, epilogue_bytes = 0;
  // Over the grid; 0: the operand stays in VMEM.
  int64_t lhs_fetches = 0, rhs_fetches = 0, out_moves = 0;
  SharedReads shared;
  int64_t hbm_bytes = 0;   // of all
  int64_t vmem_bytes = 0;  // slots and scratch

  // `accumulates`: partial sums wait in scratch.
  static ProductTraffic Of(const ProductProblem& p, const ProductTile& t,
                           const ArrayShape& a, bool accumulates);
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_TRAFFIC_H_
