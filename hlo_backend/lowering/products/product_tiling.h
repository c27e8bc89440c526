// Which blocks of a product one grid step computes, and how its MXUs share
// them.
//
// The search walks over grid bounds, scores each candidate with the resources
// that a step needs (matmul and push intervals, loads, stores, vector
// operations) against the DMA of its windows, and keeps the best that fits
// into scoped VMEM and a bounded number of bundles. No bundle is made for it.
//
//   ASSIGN_OR_RETURN(ProductTiling t, ChooseProductTile(problem, arrays,
//   machine, limits)); t.block_m, t.grid_n, t.cycles, t.runners_up
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_TILING_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_TILING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/analysis/window_config.h"
#include "hlo_backend/lowering/products/product_problem.h"
#include "isa/machine_model.h"

namespace ptxla::lowering {

struct TilingLog;  // tiling_log.h

// What the TPU compiler's choice of windows counts with (window_cost.h).
struct WindowRates {
  double bytes_per_cycle = 1;
  double load = 0;          // cycles of a fetch, beside its bytes
  double store = 0;         // cycles of a store, beside its bytes
  double step = 0;          // cycles of a step, beside its matmuls
  double vector_slots = 4;  // vector ALU instructions of a bundle
  double vmem_bytes = 0;    // for what a step wants
};

struct ProductLimits {
  int64_t vmem_bytes = 16 << 20;      // of scoped VMEM, for a kernel
  int64_t scoped_bytes = 16 << 20;    // all of it
  int64_t step_bundles = 0;           // longest straight code of a step
  double hbm_bytes_per_cycle = 500;   // of a long stream
  int64_t hbm_latency_cycles = 1000;  // request to first byte
  double hbm_block_half = 0;          // bytes: runs of so many, half the rate
  int64_t step_cycles = 100;          // grid step outside its body
  int cores = 1;                      // that share the grid
  // Where two share K, of the sums that they send one another.
  int64_t peer_latency_cycles = 0;
  double peer_bytes_per_cycle = 1;  // of all cores that send at once
  // Windows are those that the TPU compiler thinks cheapest, of all that fit
  // here. Its steps walk down the rows (`rows_inside`) for all columns.
  std::optional<WindowRates> windows;
  bool rows_inside = true;

  // For windows that the TPU compiler chose, or would choose: all of scoped
  // VMEM is theirs, and more code than we would unroll.
  ProductLimits OfCompiler() const;
};

struct ProductTile {
  // Grid bounds and block sizes; a block counts elements, padded to whole
  // tiles. The grid is walked b, then m and n in the order of `n_inner`, then
  // k innermost; with `b_inner`, b comes behind m and n, so that what members
  // of the batch share stays while they are walked.
  int64_t grid_b = 1, grid_m = 1, grid_n = 1, grid_k = 1;
  int64_t block_b = 1, block_m = 16, block_n = 128, block_k = 128;
  int64_t k_planes = 1;  // grid_k are so many times the steps of a plane
  bool n_inner = true, b_inner = false;
  // MXUs take different batch members, columns or rows; the product is at most
  // the number of MXUs.
  int split_b = 1, split_n = 1, split_m = 1;

  int64_t Steps() const { return grid_b * grid_m * grid_n * grid_k; }
  std::string ToString() const;
};

struct ProductCost {
  int64_t step_bundles = 0;  // cycles of the body of one step
  int64_t vmem_bytes = 0;
  int64_t hbm_bytes = 0;  // over the whole grid
  int64_t cycles = 0;     // of the kernel
  int64_t exposed = 0;    // of them, the first load and the last store
  // What the choice goes by: the TPU compiler's windows (v6e.csv of the
  // measured programs) are those of a cost that leaves out the first load and
  // half of the last store; its kernels expose both. Where two cores share the
  // grid it counts the first load instead, so that they rather split the
  // dimension of what is streamed than load it twice, and half of what
  // conversions of slow types take: 297 of the 343 A-GEMM programs have the
  // compiler's windows on v4, 223 by the cost for one core (libtpu 0.0.42.1,
  // chip configuration "megacore").
  int64_t choice = 0;
};

struct ProductTiling {
  ProductTile tile;
  ProductCost cost;
  std::vector<std::pair<ProductTile, ProductCost>>
      runners_up;  // the next best, 4 at most
  // The windows are the TPU compiler's choice: only runners-up of the same cost
  // have them too.
  bool of_compiler = false;
};

ProductCost CostOf(const ProductProblem& problem, const ProductTile& tile,
                   const ArrayShape& arrays, const isa::MachineModel& machine,
                   const ProductLimits& limits);

// ResourceExhausted if not even the smallest tile fits. `log` (may be null) is
// begun anew and gets the tile, the runners-up and the costs.
absl::StatusOr<ProductTiling> ChooseProductTile(
    const ProductProblem& problem, const ArrayShape& arrays,
    const isa::MachineModel& machine, const ProductLimits& limits,
    TilingLog* log = nullptr);

// The tile of windows that somebody else chose (analysis/window_config.h), with
// blocks rounded up to what kernels can take, and the best use of the MXUs;
// `n_inner`: columns are walked inside of rows. FailedPrecondition: windows
// that no kernel of this problem has, or that do not fit the limits.
absl::StatusOr<ProductTiling> GivenProductTile(
    const ProductProblem& problem, const ArrayShape& arrays,
    const isa::MachineModel& machine, const ProductLimits& limits,
    const hlo::ProductWindows& windows, bool n_inner, TilingLog* log = nullptr);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_TILING_H_
