// What the search for a product's tiles sees of HBM beside bytes: blocks that
// are parts of rows come in short runs, at a lower rate.
//
// DERIVED from windows of libtpu 0.0.42.1. Those of batched products (16
// programs on v5e, v5p, v6e and tpu7x) hold whole rows and no large first
// block; those of plain ones (B-GEMM) are as wide whatever their runs, and
// their first block may be a whole operand. What a run costs, hbm.block_half,
// is ASSUMED in the chip files.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_RUNS_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_RUNS_H_

#include <cstdint>

#include "hlo_backend/lowering/products/product_problem.h"
#include "hlo_backend/lowering/products/product_tiling.h"

namespace ptxla::lowering {

// Whether runs and the first block count.
inline bool SeesHbm(const ProductProblem& p) { return p.batch > 1; }

// `bytes` of an operand's or the result's blocks, as bytes of one long stream
// that takes as long. Tiles that lie one behind the other are a run.
int64_t LhsInRuns(int64_t bytes, const ProductProblem& p, const ProductTile& t,
                  const ProductLimits& limits);
int64_t RhsInRuns(int64_t bytes, const ProductProblem& p, const ProductTile& t,
                  const ProductLimits& limits);
int64_t ResultInRuns(int64_t bytes, const ProductProblem& p,
                     const ProductTile& t, const ProductLimits& limits);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_RUNS_H_
