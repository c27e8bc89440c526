#include "hlo_backend/lowering/products/product_chain_tiling.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/units.h"
#include "hlo_backend/lowering/products/product_operands.h"

namespace ptxla::lowering {
namespace {

constexpr int64_t kMostRowSteps = 64;  // of a member
constexpr size_t kMostBlocks = 5;

class ChainSearch {
 public:
  ChainSearch(const ChainProblem& chain, const isa::MachineModel& machine,
              const ProductLimits& limits)
      : c_(chain), machine_(machine), limits_(limits) {
    // What is handed on is no traffic, and is held once.
    c_.rows.out_bytes_per_element = 0;
    (c_.left ? c_.product.lhs : c_.product.rhs).resident = true;
  }

  std::vector<ChainBlocks> Run() {
    // Rows that become columns come by whole tiles.
    const int64_t unit = c_.left
                             ? c_.rows.row_unit
                             : std::max<int64_t>(c_.rows.row_unit, isa::kLanes);
    int64_t last = 0;
    for (int64_t steps = 1; steps <= kMostRowSteps; ++steps) {
      const int64_t rows =
          RoundUpTo<int64_t>(CeilOfRatio(c_.rows.m, steps), unit);
      if (rows != last) Consider(rows);
      last = rows;
    }
    std::stable_sort(blocks_.begin(), blocks_.end(),
                     [](const ChainBlocks& x, const ChainBlocks& y) {
                       return x.cycles < y.cycles;
                     });
    if (blocks_.size() > kMostBlocks) blocks_.resize(kMostBlocks);
    return std::move(blocks_);
  }

 private:
  // The best use of the MXUs for such a block of the result.
  absl::StatusOr<ProductTiling> TilesOf(const ProductProblem& p,
                                        const ArrayShape& arrays, int64_t rows,
                                        int64_t columns) const {
    return GivenProductTile(p, arrays, machine_, limits_, {1, rows, columns, 1},
                            /*n_inner=*/true, nullptr);
  }

  void Consider(int64_t rows) {
    const ProductProblem &first = c_.rows, &second = c_.product;
    const auto one = TilesOf(first, c_.rows_arrays, rows, first.n);
    const auto other =
        TilesOf(second, c_.product_arrays, c_.left ? rows : second.m,
                c_.left ? second.n : rows);
    if (!one.ok() || !other.ok()) return;
    ChainBlocks blocks;
    blocks.rows = one->tile;
    blocks.product = other->tile;
    // The same dimension of the grid walks both.
    blocks.product.n_inner = c_.left;
    if (GridDims::Of(blocks.rows).bounds !=
            GridDims::Of(blocks.product).bounds ||
        blocks.rows.block_b != blocks.product.block_b ||
        blocks.rows.block_m !=
            (c_.left ? blocks.product.block_m : blocks.product.block_n)) {
      return;
    }
    Keep(blocks);
    // What members share stays while they are walked.
    if (!first.shared_tiles.empty() && one->tile.grid_b > 1 &&
        one->tile.grid_m > 1) {
      blocks.rows.b_inner = blocks.product.b_inner = true;
      Keep(blocks);
    }
  }

  // If it fits.
  void Keep(ChainBlocks blocks) {
    const ProductTile& t = blocks.rows;
    blocks.rows_cost = CostOf(c_.rows, t, c_.rows_arrays, machine_, limits_);
    blocks.product_cost = CostOf(c_.product, blocks.product, c_.product_arrays,
                                 machine_, limits_);
    const ProductCost &one = blocks.rows_cost, &other = blocks.product_cost;
    blocks.step = one.step_bundles + other.step_bundles;
    blocks.vmem_bytes = one.vmem_bytes + other.vmem_bytes +
                        t.block_b * t.block_m * t.block_n * c_.row_bytes;
    if (blocks.step > limits_.step_bundles ||
        blocks.vmem_bytes > limits_.vmem_bytes) {
      return;
    }
    // The first blocks come and the last ones go with nothing to hide them.
    const auto stream = static_cast<int64_t>(
        static_cast<double>(one.hbm_bytes + other.hbm_bytes) /
        limits_.hbm_bytes_per_cycle);
    blocks.cycles = std::max(ChainSteps(blocks, limits_.cores) *
                                 (blocks.step + limits_.step_cycles),
                             stream) +
                    stream / t.Steps() + 2 * limits_.hbm_latency_cycles;
    blocks_.push_back(std::move(blocks));
  }

  ChainProblem c_;
  const isa::MachineModel& machine_;
  const ProductLimits& limits_;
  std::vector<ChainBlocks> blocks_;
};

}  // namespace

absl::Status ChainProblem::Check() const {
  const bool turned = left ? product.lhs.transposed : !product.rhs.transposed;
  if (turned || !rows.whole_rows || rows.batch != product.batch ||
      rows.m != (left ? product.m : product.n) || rows.n != product.k ||
      rows.k_planes > 1 || product.k_planes > 1) {
    return absl::UnimplementedError(
        "a chain of products with rows of another form");
  }
  return absl::OkStatus();
}

std::string ChainBlocks::ToString() const {
  return absl::StrCat(rows.ToString(), ", then ", product.ToString());
}

int64_t ChainSteps(const ChainBlocks& blocks, int cores) {
  const GridDims grid = GridDims::Of(blocks.rows);
  const int64_t split =
      grid.megacore_dim < 0 ? 1 : grid.bounds[grid.megacore_dim];
  return blocks.rows.Steps() / split * CeilOfRatio<int64_t>(split, cores);
}

absl::StatusOr<std::vector<ChainBlocks>> ChooseChainBlocks(
    const ChainProblem& chain, const isa::MachineModel& machine,
    const ProductLimits& limits) {
  std::vector<ChainBlocks> blocks = ChainSearch(chain, machine, limits).Run();
  if (blocks.empty()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no block of both products of a chain fits into ",
                     limits.vmem_bytes, " bytes of VMEM"));
  }
  return blocks;
}

}  // namespace ptxla::lowering
