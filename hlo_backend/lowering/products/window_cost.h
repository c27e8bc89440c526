// What the TPU compiler's choice of a product's windows goes by: how long it
// thinks that the grid takes, and the VMEM that it wants for a step.
//
//   fill, then for each step the longer of its matmuls and of what is fetched
//   for the next one and stored of the last one, then drain:
//
//   load | matmuls 0 | max(matmuls 1, load 2 + store 0) | ... | store
//
// This is no time that anything takes (GridTime is): stores count three times
// for bf16, which is written as f32 first, latencies are long. But its least
// windows are those of libtpu 0.0.42.1, whose `estimated_cycles` it equals
// within 0.1 % for products of v6e (B-GEMM) and others on v5e, v5p, v6e and
// tpu7x, one core or two; within 3 % where K is cut.
//
//   bf16[1024,1024] x bf16[1024,1024] on v6e, the LHS in VMEM: 17,380 cycles in
//   one step, 17,431 in two of 512 rows
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_WINDOW_COST_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_WINDOW_COST_H_

#include <cstdint>
#include <optional>

#include "chips/chip_spec.h"
#include "hlo_backend/lowering/products/product_tiling.h"

namespace ptxla::lowering {

// Nothing for chips whose compiler chooses otherwise (v2 to v4).
std::optional<WindowRates> WindowRatesOf(const chips::ChipSpec& chip);

class WindowCost {
 public:
  WindowCost(const ProductProblem& p, const ArrayShape& a,
             const WindowRates& rates, int cores)
      : p_(p), a_(a), rates_(rates), cores_(cores) {}

  // Cycles; nothing where cores would have unequal numbers of steps, or the
  // step wants more VMEM than there is.
  std::optional<int64_t> Of(const ProductTile& tile) const;

 private:
  // Vector work of a step that computes operands.
  double PrologueCycles(const ProductTile& tile) const;

  const ProductProblem& p_;
  const ArrayShape& a_;
  const WindowRates& rates_;
  const int cores_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_WINDOW_COST_H_
