#include "hlo_backend/lowering/products/product_runs.h"

namespace ptxla::lowering {
namespace {

// Of one column of a tile: 8 rows, of 8-bit and 4-bit types 32 and 64.
int64_t ColumnBytes(int64_t bytes_per_element) {
  return bytes_per_element > 1 ? 8 * bytes_per_element : 32;
}

int64_t ColumnBytes(const ProductOperand& o) {
  return ColumnBytes(o.computed ? o.bytes_per_element
                                : hlo::BitWidth(o.type) / 8);
}

// The block of an array's minor dimension, and how many the array has.
struct Minor {
  int64_t columns, blocks;
};

int64_t InRuns(int64_t bytes, const Minor& minor, int64_t column_bytes,
               const ProductProblem& p, const ProductLimits& limits) {
  if (!SeesHbm(p) || minor.blocks <= 1 || bytes == 0) return bytes;
  const auto run = static_cast<double>(minor.columns * column_bytes);
  return static_cast<int64_t>(static_cast<double>(bytes) *
                              (1 + limits.hbm_block_half / run));
}

}  // namespace

int64_t LhsInRuns(int64_t bytes, const ProductProblem& p, const ProductTile& t,
                  const ProductLimits& limits) {
  const Minor minor = p.lhs.transposed ? Minor{t.block_m, t.grid_m}
                                       : Minor{t.block_k, t.grid_k};
  return InRuns(bytes, minor, ColumnBytes(p.lhs), p, limits);
}

int64_t RhsInRuns(int64_t bytes, const ProductProblem& p, const ProductTile& t,
                  const ProductLimits& limits) {
  const Minor minor = p.rhs.transposed ? Minor{t.block_k, t.grid_k}
                                       : Minor{t.block_n, t.grid_n};
  return InRuns(bytes, minor, ColumnBytes(p.rhs), p, limits);
}

int64_t ResultInRuns(int64_t bytes, const ProductProblem& p,
                     const ProductTile& t, const ProductLimits& limits) {
  return InRuns(bytes, {t.block_n, t.grid_n},
                ColumnBytes(p.out_bytes_per_element), p, limits);
}

}  // namespace ptxla::lowering
