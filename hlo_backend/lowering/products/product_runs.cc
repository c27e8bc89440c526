#include "hlo_backend/lowering/products/product_runs.h"

namespace ptxla::lowering {
namespace {

// Blocks of `columns`, of which a row of the array has `blocks`.
int64_t InRuns(int64_t bytes, int64_t columns, int64_t blocks,
               int64_t bytes_per_element, const ProductLimits& limits) {
  if (blocks <= 1 || bytes == 0) return bytes;
  const auto run = static_cast<double>(8 * columns * bytes_per_element);
  return static_cast<int64_t>(static_cast<double>(bytes) *
                              (1 + limits.hbm_block_half / run));
}

int64_t BytesPerElement(const ProductOperand& o) {
  return o.computed ? o.bytes_per_element : hlo::BitWidth(o.type) / 8;
}

}  // namespace

int64_t LhsInRuns(int64_t bytes, const ProductProblem& p, const ProductTile& t,
                  const ProductLimits& limits) {
  if (!SeesHbm(p)) return bytes;
  const int64_t element = BytesPerElement(p.lhs);
  return p.lhs.transposed ? InRuns(bytes, t.block_m, t.grid_m, element, limits)
                          : InRuns(bytes, t.block_k, t.grid_k, element, limits);
}

int64_t RhsInRuns(int64_t bytes, const ProductProblem& p, const ProductTile& t,
                  const ProductLimits& limits) {
  if (!SeesHbm(p)) return bytes;
  const int64_t element = BytesPerElement(p.rhs);
  return p.rhs.transposed ? InRuns(bytes, t.block_k, t.grid_k, element, limits)
                          : InRuns(bytes, t.block_n, t.grid_n, element, limits);
}

int64_t ResultInRuns(int64_t bytes, const ProductProblem& p,
                     const ProductTile& t, const ProductLimits& limits) {
  if (!SeesHbm(p)) return bytes;
  return InRuns(bytes, t.block_n, t.grid_n, p.out_bytes_per_element, limits);
}

}  // namespace ptxla::lowering
