// ChooseProductTile: the tile of least cost among all that fit.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/units.h"
#include "hlo_backend/lowering/products/product_tiling.h"
#include "hlo_backend/lowering/products/ranked_windows.h"
#include "hlo_backend/lowering/products/tile_bounds.h"
#include "hlo_backend/lowering/tiling_log.h"

namespace ptxla::lowering {
namespace {

constexpr size_t kRunnersUp = 4;

// Coarsely over all dimensions, then finely around the best: the TPU's compiler
// takes any number of steps, trying them all takes long.
class TileSearch {
 public:
  TileSearch(const ProductProblem& p, const ArrayShape& a,
             const isa::MachineModel& machine, const ProductLimits& limits,
             TilingLog* log)
      : p_(p),
        a_(a),
        machine_(machine),
        limits_(limits),
        log_(log),
        // M on the lanes moves by whole tiles.
        rows_unit_(std::max({p.lhs.transposed ? int64_t{isa::kLanes} : 1,
                             p.row_unit, p.row_unit_of_steps})) {}

  void Coarse() {
    ProductTile t;
    t.k_planes = p_.k_planes;
    for (int64_t block_b : BatchBlocks(p_)) {
      t.block_b = block_b;
      t.grid_b = CeilOfRatio(p_.batch, t.block_b);
      if (!MayShare(t.block_b)) continue;
      for (int64_t gm : GridBounds(p_.m, rows_unit_)) {
        if (p_.whole_columns && gm > 1) break;
        SetRows(gm, &t);
        for (int64_t gn : GridBounds(p_.n, p_.column_unit)) {
          if (p_.whole_rows && gn > 1) break;
          SetColumns(gn, &t);
          for (int64_t gk : GridBounds(p_.k, 128)) {
            t.block_k = RoundUpTo<int64_t>(CeilOfRatio(p_.k, gk),
                                           gk > 1 ? p_.k_unit : 128);
            t.grid_k = CeilOfRatio(p_.k, t.block_k) * p_.k_planes;
            if (gk > 1 && a_.size == 256 && t.block_k % 256 != 0) continue;
            TrySplits(t);
          }
        }
      }
    }
  }

  void Fine() {
    const std::vector<Candidate> around = best_;
    std::vector<std::pair<int64_t, int64_t>> seen;
    for (const auto& [tile, cost] : around) {
      const std::pair<int64_t, int64_t> grid = {tile.grid_m, tile.grid_n};
      if (std::find(seen.begin(), seen.end(), grid) != seen.end()) continue;
      seen.push_back(grid);
      ProductTile t = tile;
      for (int64_t gm : BoundsNear(p_.m, rows_unit_, tile.grid_m)) {
        if (p_.whole_columns) break;
        SetRows(gm, &t);
        TrySplits(t);
      }
      t = tile;
      if (p_.whole_rows) continue;
      for (int64_t gn : BoundsNear(p_.n, p_.column_unit, tile.grid_n)) {
        SetColumns(gn, &t);
        TrySplits(t);
      }
    }
  }

  // The first windows that fit, in the TPU compiler's order; each with the best
  // use of the MXUs.
  void Ranked() {
    given_order_ = true;
    for (const RankedWindow& w :
         RankedWindows(p_, a_, limits_, {rows_unit_, BatchBlocks(p_)})) {
      // The others are only asked for their costs.
      if (best_.size() > kRunnersUp && w.cost > best_.back().second.choice &&
          log_ == nullptr) {
        break;
      }
      ranked_cost_ = w.cost;
      TrySplits(w.tile);
    }
    ranked_cost_.reset();
    given_order_ = false;
  }

  // Nothing but these windows.
  void Only(const hlo::ProductWindows& windows, bool n_inner) {
    ProductTile t;
    t.k_planes = p_.k_planes;
    t.block_b = std::min(windows.planes, p_.batch);
    t.grid_b = CeilOfRatio(p_.batch, t.block_b);
    const std::vector<int64_t> blocks = BatchBlocks(p_);
    if (!MayShare(t.block_b) ||
        (p_.members > 0 &&
         std::find(blocks.begin(), blocks.end(), t.block_b) == blocks.end())) {
      return;
    }
    const auto block = [](int64_t extent, int64_t of_step, int64_t unit,
                          int64_t lone_unit) {
      return RoundUpTo<int64_t>(std::min(of_step, extent),
                                of_step < extent ? unit : lone_unit);
    };
    t.block_m = block(p_.m, windows.rows, rows_unit_, p_.row_unit);
    t.grid_m = CeilOfRatio(p_.m, t.block_m);
    t.block_n = block(p_.n, windows.columns, p_.column_unit, 128);
    t.grid_n = CeilOfRatio(p_.n, t.block_n);
    if ((p_.whole_rows && t.grid_n > 1) || (p_.whole_columns && t.grid_m > 1)) {
      return;
    }
    const int64_t steps = CeilOfRatio(windows.k_steps, p_.k_planes);
    t.block_k = RoundUpTo<int64_t>(
        CeilOfRatio(p_.k, steps),
        steps > 1 ? std::max(int64_t{a_.size}, p_.k_unit) : 128);
    t.grid_k = CeilOfRatio(p_.k, t.block_k) * p_.k_planes;
    given_order_ = true;
    t.n_inner = n_inner || p_.rows_in_turn || t.grid_m == 1 || t.grid_n == 1;
    TrySplits(t);
  }

  absl::StatusOr<ProductTiling> Best() {
    if (best_.empty()) {
      return absl::ResourceExhaustedError(
          absl::StrCat("no tile of a product ", p_.batch, " x [", p_.m, ",",
                       p_.k, "] x [", p_.k, ",", p_.n, "] fits into ",
                       limits_.vmem_bytes, " bytes of VMEM"));
    }
    if (log_ != nullptr) {
      for (const auto& [tile, cost] : best_) {
        log_->candidates.push_back({tile.ToString(), cost.choice,
                                    cost.step_bundles, cost.vmem_bytes, ""});
      }
    }
    ProductTiling result;
    result.tile = best_[0].first;
    result.cost = best_[0].second;
    result.runners_up.assign(best_.begin() + 1, best_.end());
    return result;
  }

 private:
  using Candidate = std::pair<ProductTile, ProductCost>;

  bool MayShare(int64_t block_b) const {
    return std::all_of(p_.shared_members.begin(), p_.shared_members.end(),
                       [&](const SharedMembers& m) { return m.Fits(block_b); });
  }
  void SetRows(int64_t gm, ProductTile* t) const {
    t->block_m = RoundUpTo<int64_t>(CeilOfRatio(p_.m, gm),
                                    gm > 1 ? rows_unit_ : p_.row_unit);
    t->grid_m = CeilOfRatio(p_.m, t->block_m);
  }
  void SetColumns(int64_t gn, ProductTile* t) const {
    t->block_n = RoundUpTo<int64_t>(CeilOfRatio(p_.n, gn),
                                    gn > 1 ? p_.column_unit : 128);
    t->grid_n = CeilOfRatio(p_.n, t->block_n);
  }

  void TrySplits(ProductTile t) {
    for (const MxuSplit& split : MxuSplits(a_.mxus)) {
      if (split.b > t.block_b || split.m * a_.unit > t.block_m ||
          (split.n - 1) * 128 >= t.block_n) {
        continue;
      }
      t.split_b = split.b;
      t.split_n = split.n;
      t.split_m = split.m;
      if (given_order_) {
        Try(t);
        continue;
      }
      for (bool n_inner : {true, false}) {
        if (!n_inner && (t.grid_m == 1 || t.grid_n == 1)) continue;
        if (!n_inner && p_.rows_in_turn) continue;
        t.n_inner = n_inner;
        Try(t);
      }
      t.n_inner = true;
      t.b_inner = !p_.shared_tiles.empty() && t.grid_b > 1 && t.grid_m > 1 &&
                  t.grid_n == 1 && t.grid_k == 1;
      if (t.b_inner) Try(t);
      t.b_inner = false;
    }
  }

  // Where memory sets the pace, the code that takes less time: more of the
  // MXUs.
  static bool Better(const Candidate& x, const Candidate& y) {
    if (x.second.choice != y.second.choice) {
      return x.second.choice < y.second.choice;
    }
    return x.second.step_bundles * x.first.Steps() <
           y.second.step_bundles * y.first.Steps();
  }

  void Try(const ProductTile& t) {
    // A step makes whole lines of 128 rows, or an even part of one.
    if (p_.parts_of_rows && t.grid_m > 1 && t.block_m % isa::kLanes != 0 &&
        isa::kLanes % t.block_m != 0) {
      return;
    }
    ProductCost cost = CostOf(p_, t, a_, machine_, limits_);
    if (ranked_cost_) cost.choice = *ranked_cost_;
    if (log_ != nullptr) ++log_->considered;
    if (cost.vmem_bytes > limits_.vmem_bytes ||
        cost.step_bundles > limits_.step_bundles) {
      if (log_ != nullptr) ++log_->too_large;
      return;
    }
    if (log_ != nullptr) AddCost(t.Steps(), cost.choice, log_);
    const Candidate mine = {t, cost};
    if (best_.size() > kRunnersUp && !Better(mine, best_.back())) return;
    best_.insert(std::upper_bound(best_.begin(), best_.end(), mine, Better),
                 mine);
    if (best_.size() > kRunnersUp + 1) best_.pop_back();
  }

  const ProductProblem& p_;
  const ArrayShape& a_;
  const isa::MachineModel& machine_;
  const ProductLimits& limits_;
  TilingLog* log_;
  const int64_t rows_unit_;
  bool given_order_ = false;  // of rows and columns: not tried both ways
  std::optional<int64_t> ranked_cost_;  // instead of ours
  std::vector<Candidate> best_;
};

// Its windows follow the TPU compiler's rule, as far as it is known: one pass
// of bf16, no values of whole rows or columns are kept, nothing is read for
// several members at once.
bool FollowsCompiler(const ProductProblem& p) {
  return p.numbers == ArrayNumbers::kBf16 && p.passes.size() == 1 &&
         p.shared_tiles.empty() && p.shared_members.empty() && !p.kept.any &&
         !p.rows_in_turn && !p.parts_of_rows;
}

}  // namespace

absl::StatusOr<ProductTiling> ChooseProductTile(
    const ProductProblem& p, const ArrayShape& a,
    const isa::MachineModel& machine, const ProductLimits& limits,
    TilingLog* log) {
  if (log != nullptr) *log = TilingLog();
  if (limits.windows.has_value() && FollowsCompiler(p)) {
    const ProductLimits wide = limits.OfCompiler();
    TileSearch ranked(p, a, machine, wide, log);
    ranked.Ranked();
    auto best = ranked.Best();
    if (best.ok()) {
      best->of_compiler = true;
      return best;
    }
    if (log != nullptr) *log = TilingLog();
  }
  TileSearch search(p, a, machine, limits, log);
  search.Coarse();
  search.Fine();
  auto best = search.Best();
  if (absl::IsResourceExhausted(best.status()) && p.parts_of_rows &&
      p.row_unit_of_steps > p.row_unit) {
    ProductProblem parts = p;
    parts.row_unit_of_steps /= 2;
    return ChooseProductTile(parts, a, machine, limits, log);
  }
  return best;
}

absl::StatusOr<ProductTiling> GivenProductTile(
    const ProductProblem& p, const ArrayShape& a,
    const isa::MachineModel& machine, const ProductLimits& limits,
    const hlo::ProductWindows& windows, bool n_inner, TilingLog* log) {
  if (log != nullptr) *log = TilingLog();
  TileSearch search(p, a, machine, limits, log);
  search.Only(windows, n_inner);
  auto best = search.Best();
  if (best.ok()) {
    best->runners_up.clear();
    return best;
  }
  return absl::FailedPreconditionError(best.status().message());
}

}  // namespace ptxla::lowering
