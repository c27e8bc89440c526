#include "hlo_backend/lowering/products/ranked_windows.h"

#include <algorithm>

#include "base/units.h"
#include "hlo_backend/lowering/cheapest_cuts.h"
#include "hlo_backend/lowering/products/window_cost.h"

namespace ptxla::lowering {
namespace {

// Windows that are kept: of those that fit few are refused.
constexpr size_t kMost = 256;

// Sizes of blocks that cut `extent` into about equal parts, in units, large
// ones first; one of all has whole `lone` units.
std::vector<int64_t> BlocksOf(int64_t extent, int64_t unit, int64_t lone) {
  std::vector<int64_t> blocks;
  const int64_t units = CeilOfRatio(extent, unit);
  for (const int64_t cuts : DistinctCuts(units)) {
    blocks.push_back(cuts == 1 ? RoundUpTo(extent, lone)
                               : CeilOfRatio(units, cuts) * unit);
  }
  return blocks;
}

class Ranking {
 public:
  Ranking(const ProductProblem& p, const ArrayShape& a,
          const ProductLimits& limits, const WindowUnits& units)
      : p_(p),
        a_(a),
        limits_(limits),
        units_(units),
        cost_(p, a, *limits.windows, limits.cores) {}

  std::vector<RankedWindow> Run() {
    ProductTile t;
    t.k_planes = p_.k_planes;
    for (const int64_t members : units_.batch) {
      t.block_b = members;
      t.grid_b = CeilOfRatio(p_.batch, members);
      for (const int64_t columns : BlocksOf(p_.n, p_.column_unit, 128)) {
        t.block_n = columns;
        t.grid_n = CeilOfRatio(p_.n, columns);
        if (p_.whole_rows && t.grid_n > 1) break;
        Depths(&t);
      }
    }
    const auto cheaper = [](const RankedWindow& x, const RankedWindow& y) {
      return x.cost < y.cost;
    };
    std::stable_sort(windows_.begin(), windows_.end(), cheaper);
    if (windows_.size() > kMost) windows_.resize(kMost);
    return std::move(windows_);
  }

 private:
  void Depths(ProductTile* t) {
    for (const int64_t depth : BlocksOf(p_.k, 128, 128)) {
      t->block_k = depth;
      t->grid_k = CeilOfRatio(p_.k, depth) * p_.k_planes;
      Rows(t);
    }
  }

  void Rows(ProductTile* t) {
    // The compiler counts tiles of 8 rows.
    const int64_t unit = units_.rows == 16 ? 8 : units_.rows;
    const int64_t lone = p_.row_unit == 16 ? 8 : p_.row_unit;
    for (const int64_t rows : BlocksOf(p_.m, unit, lone)) {
      t->block_m = rows;
      t->grid_m = CeilOfRatio(p_.m, rows);
      if (p_.whole_columns && t->grid_m > 1) break;
      t->n_inner = !limits_.rows_inside || t->grid_m == 1 || t->grid_n == 1;
      const std::optional<int64_t> cost = cost_.Of(*t);
      if (!cost) continue;
      const ProductTile taken = Taken(*t);
      if (HasEqualSteps(taken)) windows_.push_back({*cost, taken});
    }
  }

  // What our kernels make of it: whole registers of rows, unless a block may
  // end within one, and whole tiles of the arrays.
  ProductTile Taken(ProductTile t) const {
    const int64_t rows =
        p_.half_registers ? std::min<int64_t>(8, units_.rows) : units_.rows;
    t.block_m = RoundUpTo(t.block_m, t.grid_m > 1 ? rows : p_.row_unit);
    t.grid_m = CeilOfRatio(p_.m, t.block_m);
    if (t.grid_k > p_.k_planes) {
      t.block_k =
          RoundUpTo<int64_t>(t.block_k, std::max<int64_t>(a_.size, p_.k_unit));
      t.grid_k = CeilOfRatio(p_.k, t.block_k) * p_.k_planes;
    }
    t.n_inner |= t.grid_m == 1;
    return t;
  }

  bool HasEqualSteps(const ProductTile& t) const {
    const CoreShare share = CoreShare::Of(p_.kept, t, limits_.cores);
    return share.bound == 1 || share.bound % limits_.cores == 0;
  }

  const ProductProblem& p_;
  const ArrayShape& a_;
  const ProductLimits& limits_;
  const WindowUnits& units_;
  const WindowCost cost_;
  std::vector<RankedWindow> windows_;
};

}  // namespace

std::vector<RankedWindow> RankedWindows(const ProductProblem& p,
                                        const ArrayShape& a,
                                        const ProductLimits& limits,
                                        const WindowUnits& units) {
  return Ranking(p, a, limits, units).Run();
}

}  // namespace ptxla::lowering
