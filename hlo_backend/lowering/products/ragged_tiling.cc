#include "hlo_backend/lowering/products/ragged_tiling.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/units.h"
#include "chips/compiler_policy.h"
#include "hlo_backend/lowering/products/row_mask.h"

namespace ptxla::lowering {
namespace {

// `extent` in the fewest equal blocks of at most `most`, whole tiles of `unit`.
int64_t EqualBlock(int64_t extent, int64_t most, int64_t unit) {
  const int64_t blocks = CeilOfRatio(extent, most);
  return RoundUpTo(CeilOfRatio(extent, blocks), unit);
}

// The widest block of at most `most` that divides the extent, else an equal
// one: no step of the grid then has less of K than others.
int64_t DividingBlock(int64_t extent, int64_t most) {
  for (int64_t block = most / 128 * 128; block > 0; block -= 128) {
    if (extent % block == 0) return block;
  }
  return EqualBlock(extent, most, 128);
}

// Multiplications of a step of a dense weight gradient. DERIVED: the windows of
// libtpu 0.0.42.1 on v5p (megacore) are 1,024 x 1,024 x 240, 768 x 1,024 x 376,
// 960 x 768 x 384, 512 x 1,024 x 568 and 256 x 1,024 x 824.
constexpr int64_t kGradientStep = int64_t{1024} * 1024 * 256;

class Chooser {
 public:
  Chooser(const KernelContext& context, const hlo::RaggedCall& call,
          hlo::PrimitiveType type, const ArrayShape& arrays)
      : context_(context),
        call_(call),
        bytes_(hlo::BitWidth(type) / 8),
        result_bytes_(hlo::BitWidth(call.result) / 8),
        arrays_(arrays) {}

  absl::StatusOr<RaggedTiling> Choose() {
    ProductTile& t = r_.tile;
    const int64_t m = call_.by_groups ? call_.k : call_.rows;
    const int64_t k = call_.by_groups ? call_.rows : call_.k;
    bool fits = true;
    if (call_.dense) {
      fits = ChooseDense(m, k);
    } else if (call_.by_groups) {
      fits = ChooseBlocks(true,
                          [&](const ProductTile&) { return call_.tile_rows; });
    } else {
      fits = ChooseRows();
    }
    if (!fits) {
      return absl::ResourceExhaustedError(
          "no block of a grouped product fits into VMEM");
    }
    t.grid_m = CeilOfRatio(m, t.block_m);
    t.grid_n = CeilOfRatio(call_.n, t.block_n);
    t.grid_k = CeilOfRatio(k, t.block_k);
    SplitArrays();
    Grid();
    return r_;
  }

 private:
  int64_t Budget() const {
    return static_cast<int64_t>(
        static_cast<double>(VmemBudget(context_)) *
        context_.chip.Policy("product_vmem_share").value_or(1));
  }

  // One tile of rows against all of K and as many columns as fit, whole tiles
  // of the arrays; where not even one tile of columns does, as much of K.
  bool ChooseRows() {
    ProductTile& t = r_.tile;
    const int64_t unit = arrays_.size;
    const auto budget = static_cast<int64_t>(
        context_.chip.Policy("ragged_dot_vmem").value_or(Budget()));
    const auto bytes = [&](int64_t k, int64_t n) {
      return 2 * bytes_ * k * (t.block_m + n) +
             2 * (result_bytes_ + 4) * t.block_m * n;
    };
    t.block_m = call_.tile_rows;
    t.block_k = call_.k;
    t.block_n = call_.n;
    while (t.block_n > unit && bytes(t.block_k, t.block_n) >= budget) {
      t.block_n = (t.block_n - 1) / unit * unit;
    }
    while (t.block_k > unit && bytes(t.block_k, t.block_n) >= budget) {
      t.block_k = (t.block_k - 1) / unit * unit;
    }
    if (bytes(t.block_k, t.block_n) >= budget) return false;
    r_.sums = t.block_k < call_.k;
    t.block_k = RoundUpTo<int64_t>(t.block_k, 128);
    t.block_n = RoundUpTo<int64_t>(t.block_n, 128);
    return true;
  }

  // Bytes of a step's blocks, copies and sums.
  int64_t Bytes(const ProductTile& t, bool masks_lhs, bool masks_rhs,
                bool transposed, bool sums) const {
    const int64_t lhs = t.block_m * t.block_k * bytes_;
    const int64_t rhs = t.block_k * t.block_n * bytes_;
    const int64_t out = t.block_m * t.block_n * 4;
    return 2 * lhs + 2 * rhs + (sums ? 1 : 2) * out +
           (masks_lhs && !transposed ? lhs : 0) +
           (transposed ? t.block_m * t.block_k * (arrays_.bf16 ? 2 : 4) : 0) +
           (sums ? out : 0) +
           2 * (masks_rhs ? MaskedRows::TableBytes(t.block_k) : 0);
  }

  // Straight code of the stream is bounded.
  bool TooLong(const ProductTile& t) const {
    const int64_t cycles =
        t.block_m / 16 * (16 / arrays_.rows) * arrays_.interval *
        CeilOfRatio<int64_t>(t.block_k, arrays_.size) *
        CeilOfRatio<int64_t>(t.block_n, arrays_.size) / arrays_.mxus;
    return cycles > chips::ProductStepBundles(context_.chip);
  }

  // How many times as long as need be the arrays work on columns in these
  // blocks: cores that wait for another, columns that do not exist, and weights
  // that are pushed for fewer rows than take as long.
  double Waste(int64_t blocks, int64_t columns, int64_t rows) const {
    const int64_t cores = context_.model.cores;
    const int64_t each = rows / SplitOfRows(columns);
    const double pushes =
        std::max(1.0, static_cast<double>(arrays_.size) / each);
    return pushes * static_cast<double>(RoundUpTo(blocks, cores) * columns) /
           static_cast<double>(call_.n);
  }

  // Several blocks of columns are as even for the cores and the arrays as they
  // can be; few rows have twice as many (libtpu 0.0.42.1, v5p: 4 blocks of 768
  // for 2,880, and for 7,168 and 256 rows 4 of 1,792; with 512 rows it has 7 of
  // 1,024 there, of which one core makes 4). One stays one.
  int64_t SharedColumns(int64_t side) const {
    const int64_t rows = EqualBlock(call_.k, side, 128);
    const int64_t most = 2 * rows < side ? 2 * side : side;
    const int64_t fewest = CeilOfRatio(call_.n, most);
    int64_t best = EqualBlock(call_.n, most, 128);
    if (fewest == 1) return best;
    double least = Waste(fewest, best, rows);
    for (int64_t blocks = fewest + 1; blocks < 2 * fewest; ++blocks) {
      const int64_t columns =
          RoundUpTo<int64_t>(CeilOfRatio(call_.n, blocks), 128);
      const double waste = Waste(blocks, columns, rows);
      if (waste >= least) continue;
      least = waste;
      best = columns;
    }
    return best;
  }

  // Arrays above one another, where the tiles of the columns do not divide by
  // all.
  int64_t SplitOfRows(int64_t columns) const {
    const int64_t wide = CeilOfRatio<int64_t>(columns, arrays_.size);
    int64_t side_by_side = 1;
    while (2 * side_by_side <= arrays_.mxus && wide % (2 * side_by_side) == 0) {
      side_by_side *= 2;
    }
    return arrays_.mxus / side_by_side;
  }

  // The largest blocks of the result: square, or higher where they are narrow;
  // `depth_of(block)`: rows of a step.
  template <class Fn>
  bool ChooseBlocks(bool masks_lhs, Fn depth_of) {
    ProductTile& t = r_.tile;
    for (int64_t side = 1024; side >= 128; side /= 2) {
      t.block_m = EqualBlock(call_.k, side, 128);
      t.block_n =
          call_.dense ? SharedColumns(side) : EqualBlock(call_.n, side, 128);
      t.block_m = EqualBlock(call_.k, side * side / t.block_n, 128);
      t.block_k = depth_of(t);
      if (Bytes(t, masks_lhs, true, true, r_.sums) <= Budget() && !TooLong(t)) {
        return true;
      }
    }
    return false;
  }

  bool ChooseDense(int64_t m, int64_t k) {
    ProductTile& t = r_.tile;
    r_.sums = true;
    if (call_.by_groups) {
      // Small blocks take more rows at once: a step turns its left operand
      // before the arrays have work.
      return ChooseBlocks(false, [&](const ProductTile& block) {
        const int64_t tiles =
            (kGradientStep / (block.block_m * block.block_n) + 64) / 128;
        return std::min(std::max<int64_t>(tiles, 1) * 128,
                        RoundUpTo<int64_t>(k, 128));
      });
    }
    for (int64_t rows = 1024; rows >= 128; rows -= 128) {
      t.block_m = EqualBlock(m, rows, 128);
      t.block_n = EqualBlock(call_.n, 512, 128);
      t.block_k = DividingBlock(k, 768);
      if (Bytes(t, true, false, false, true) <= Budget() && !TooLong(t)) {
        return true;
      }
    }
    return false;
  }

  // MXUs side by side over columns where their tiles divide by them, else one
  // above the other: none idles.
  void SplitArrays() {
    ProductTile& t = r_.tile;
    t.split_m = static_cast<int>(SplitOfRows(t.block_n));
    t.split_n = arrays_.mxus / t.split_m;
    while (t.split_m > 1 && t.block_m % (16 * t.split_m) != 0) t.split_m /= 2;
  }

  void Grid() {
    const ProductTile& t = r_.tile;
    GridDims& g = r_.grid;
    if (call_.dense) {
      // A batch of products, or one whose K is that of all groups. The latter
      // splits its rows over the cores, the former its columns, even where
      // that is one block (libtpu 0.0.42.1, megacore dimension).
      if (call_.by_groups) {
        g.b = 0, g.m = 1, g.n = 2, g.k = 3;
        g.bounds = {call_.groups, t.grid_m, t.grid_n, t.grid_k};
        g.megacore_dim = g.n;
      } else {
        g.m = 0, g.n = 1, g.b = 2, g.k = 3;
        g.bounds = {t.grid_m, t.grid_n, call_.groups, t.grid_k};
        g.megacore_dim = t.grid_m > 1 ? g.m : g.n;
      }
    } else if (call_.by_groups) {
      g.m = 0, g.n = 1, g.b = g.k = 2;
      g.bounds = {t.grid_m, t.grid_n, call_.steps};
      g.megacore_dim = t.grid_m > 1 ? g.m : g.n;
    } else {
      g.n = 0, g.b = g.m = 1, g.k = 2;
      g.bounds = {t.grid_n, call_.steps, t.grid_k};
      g.megacore_dim = g.n;
    }
    r_.groups_dim = g.b;
  }

  const KernelContext& context_;
  const hlo::RaggedCall& call_;
  const int64_t bytes_, result_bytes_;
  const ArrayShape& arrays_;
  RaggedTiling r_;
};

}  // namespace

absl::StatusOr<RaggedTiling> ChooseRaggedTiling(const KernelContext& context,
                                                const hlo::RaggedCall& call,
                                                hlo::PrimitiveType type,
                                                const ArrayShape& arrays) {
  return Chooser(context, call, type, arrays).Choose();
}

AssumedSteps AssumeSteps(const hlo::RaggedCall& call) {
  AssumedSteps steps;
  const int64_t tiles = call.steps - call.groups;
  int64_t begin = 0;
  for (int64_t g = 0; g < call.groups; ++g) {
    int64_t end = call.rows * (g + 1) / call.groups;
    if (g + 1 < call.groups && end % call.tile_rows == 0 && end < call.rows) {
      end += call.tile_rows / 2;
    }
    end = std::min(end, call.rows);
    const int64_t first = std::min(begin / call.tile_rows, tiles - 1);
    const int64_t last = std::max(first + 1, CeilOfRatio(end, call.tile_rows));
    for (int64_t t = first; t < last; ++t) {
      if (static_cast<int64_t>(steps.tile.size()) == call.steps) break;
      steps.group.push_back(g);
      steps.tile.push_back(t);
    }
    begin = end;
  }
  steps.group.resize(call.steps, steps.group.back());
  steps.tile.resize(call.steps, steps.tile.back());
  return steps;
}

}  // namespace ptxla::lowering
