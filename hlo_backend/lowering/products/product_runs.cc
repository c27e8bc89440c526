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

// Blocks of `columns`, of which a row of the array has `blocks`.
int64_t InRuns(int64_t bytes, int64_t columns, int64_t blocks,
               int64_t column_bytes, const ProductLimits& limits) {
  if (blocks <= 1 || bytes == 0) return bytes;
  const auto run = static_cast<double>(columns * column_bytes);
  return static_cast<int64_t>(static_cast<double>(bytes) *
                              (1 + limits.hbm_block_half / run));
}

}  // namespace

int64_t LhsInRuns(int64_t bytes, const ProductProblem& p, const ProductTile& t,
                  const ProductLimits& limits) {
  if (!SeesHbm(p)) return bytes;
  const int64_t column = ColumnBytes(p.lhs);
  return p.lhs.transposed ? InRuns(bytes, t.block_m, t.grid_m, column, limits)
                          : InRuns(bytes, t.block_k, t.grid_k, column, limits);
}

int64_t RhsInRuns(int64_t bytes, const ProductProblem& p, const ProductTile& t,
                  const ProductLimits& limits) {
  if (!SeesHbm(p)) return bytes;
  const int64_t column = ColumnBytes(p.rhs);
  return p.rhs.transposed ? InRuns(bytes, t.block_k, t.grid_k, column, limits)
                          : InRuns(bytes, t.block_n, t.grid_n, column, limits);
}

int64_t ResultInRuns(int64_t bytes, const ProductProblem& p,
                     const ProductTile& t, const ProductLimits& limits) {
  if (!SeesHbm(p)) return bytes;
  return InRuns(bytes, t.block_n, t.grid_n,
                ColumnBytes(p.out_bytes_per_element), limits);
}

}  // namespace ptxla::lowering
