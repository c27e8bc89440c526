#include "hlo_backend/lowering/cheapest_cuts.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/units.h"

namespace ptxla::lowering {
namespace {

using CostOf = absl::FunctionRef<CutsCost(absl::Span<const int64_t> cuts)>;

// The fewest cuts whose parts are smaller; more than `size`: none are.
int64_t NextCuts(int64_t size, int64_t part) {
  return part > 1 ? CeilOfRatio(size, part - 1) : size + 1;
}

// Innermost dimensions first, large blocks first; what cannot be cheaper than
// the best so far is not tried.
class Search {
 public:
  Search(absl::Span<const int64_t> sizes, const BlockCost& cost, CostOf cost_of)
      : sizes_(sizes), cost_(cost), cost_of_(cost_of), cuts_(sizes.size(), 1) {}

  std::vector<int64_t> Run() {
    double elements = 1;
    for (const int64_t size : sizes_) elements *= static_cast<double>(size);
    Try(static_cast<int>(sizes_.size()) - 1, 1, 1, elements);
    return best_;
  }

 private:
  // `elements`: of all blocks, padding included, if the dimensions up to `d`
  // have none.
  void Try(int d, int64_t block, int64_t blocks, double elements) {
    if (d < 0) {
      const CutsCost cost = cost_of_(cuts_);
      if (best_.empty() || cost < best_cost_) {
        best_cost_ = cost;
        best_ = cuts_;
        if (cost.beyond == 0) least_ = cost.all;
      }
      return;
    }
    const int64_t size = sizes_[d];
    const int64_t room = std::max<int64_t>(1, cost_.most / block);
    for (int64_t cuts = CeilOfRatio(size, room); cuts <= size;) {
      const int64_t part = CeilOfRatio(size, cuts);
      const double padded = elements / static_cast<double>(size) *
                            static_cast<double>(part * cuts);
      // Of the outer dimensions, as many together as there is room for.
      const double at_least =
          std::max(static_cast<double>(blocks * cuts),
                   padded / static_cast<double>(cost_.most));
      if (static_cast<double>(blocks * cuts) * cost_.block + elements >
          least_) {
        break;  // nor do more cuts
      }
      if (padded + at_least * cost_.block <= least_) {
        cuts_[d] = cuts;
        Try(d - 1, block * part, blocks * cuts, padded);
      }
      cuts = NextCuts(size, part);
    }
  }

  const absl::Span<const int64_t> sizes_;
  const BlockCost& cost_;
  const CostOf cost_of_;
  std::vector<int64_t> cuts_, best_;
  CutsCost best_cost_;
  double least_ = std::numeric_limits<double>::infinity();
};

}  // namespace

std::vector<int64_t> DistinctCuts(int64_t size) {
  std::vector<int64_t> all;
  for (int64_t cuts = 1; cuts <= size;
       cuts = NextCuts(size, CeilOfRatio(size, cuts))) {
    all.push_back(cuts);
  }
  return all;
}

double BlockCost::Of(int64_t blocks, int64_t elements) const {
  const auto shared = static_cast<double>(RoundUpTo(blocks, sharers));
  return shared * (static_cast<double>(elements) + block) *
         (1 + (elements > target ? excess : 0));
}

bool operator<(const CutsCost& a, const CutsCost& b) {
  return std::tie(a.beyond, a.all, a.next, a.last) <
         std::tie(b.beyond, b.all, b.next, b.last);
}

std::vector<int64_t> CheapestCuts(absl::Span<const int64_t> sizes,
                                  const BlockCost& cost, CostOf cost_of) {
  return Search(sizes, cost, cost_of).Run();
}

std::vector<int64_t> CheapestCuts(absl::Span<const int64_t> sizes,
                                  const BlockCost& cost) {
  return CheapestCuts(sizes, cost, [&](absl::Span<const int64_t> cuts) {
    int64_t blocks = 1, elements = 1;
    for (size_t d = 0; d < sizes.size(); ++d) {
      blocks *= cuts[d];
      elements *= CeilOfRatio(sizes[d], cuts[d]);
    }
    return CutsCost{0, cost.Of(blocks, elements), 0, 0};
  });
}

}  // namespace ptxla::lowering
