#include "hlo_backend/compiler/vmem_room.h"

#include <algorithm>
#include <numeric>

#include "base/range_maximum.h"

namespace ptxla::hlo {

std::vector<int> LeastWorth(absl::Span<const VmemResident> residents,
                            int64_t room, absl::Span<const int64_t> taken) {
  int32_t last = static_cast<int32_t>(taken.size());
  for (const VmemResident& r : residents) last = std::max(last, r.last);
  std::vector<int> order(residents.size());
  std::iota(order.begin(), order.end(), 0);
  const auto worth = [&](int k) {
    const VmemResident& r = residents[k];
    return static_cast<double>(r.uses) / (r.last - r.first + 1);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return worth(a) > worth(b); });
  RangeMaximum live(last + 1);
  for (int p = 0; p < static_cast<int>(taken.size()); ++p) {
    live.Add(p, p, taken[p]);
  }
  std::vector<int> out;
  for (const int k : order) {
    const VmemResident& r = residents[k];
    if (live.Maximum(r.first, r.last) + r.bytes > room) {
      out.push_back(k);
    } else {
      live.Add(r.first, r.last, r.bytes);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace ptxla::hlo
