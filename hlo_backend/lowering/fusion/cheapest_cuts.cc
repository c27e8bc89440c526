#include "hlo_backend/lowering/fusion/cheapest_cuts.h"

#include <algorithm>
#include <limits>

#include "base/units.h"

namespace ptxla::lowering {
namespace {

// Innermost dimensions first, large blocks first; what cannot be cheaper than
// the best so far is not tried.
class Search {
 public:
  Search(absl::Span<const int64_t> sizes, const BlockCost& cost)
      : sizes_(sizes), cost_(cost), cuts_(sizes.size(), 1) {}

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
      // Who has one block fewer waits for the others.
      const auto shared = static_cast<double>(RoundUpTo(blocks, cost_.sharers));
      const double excess = block > cost_.target ? cost_.excess : 0;
      const double cost =
          shared * (static_cast<double>(block) + cost_.block) * (1 + excess);
      if (cost < least_) {
        least_ = cost;
        best_ = cuts_;
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
      if (static_cast<double>(blocks * cuts) * cost_.block + elements >=
          least_) {
        break;  // nor do more cuts
      }
      if (padded + at_least * cost_.block < least_) {
        cuts_[d] = cuts;
        Try(d - 1, block * part, blocks * cuts, padded);
      }
      // The fewest cuts that make a smaller part.
      cuts = part > 1 ? CeilOfRatio(size, part - 1) : size + 1;
    }
  }

  const absl::Span<const int64_t> sizes_;
  const BlockCost& cost_;
  std::vector<int64_t> cuts_, best_;
  double least_ = std::numeric_limits<double>::infinity();
};

}  // namespace

std::vector<int64_t> CheapestCuts(absl::Span<const int64_t> sizes,
                                  const BlockCost& cost) {
  return Search(sizes, cost).Run();
}

}  // namespace ptxla::lowering
