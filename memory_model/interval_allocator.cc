#include "memory_model/interval_allocator.h"

#include <algorithm>
#include <limits>

namespace ptxla::memory {

IntervalAllocator::IntervalAllocator(Bytes capacity, Bytes alignment)
    : capacity_(capacity.count()), alignment_(alignment.count()) {}

void IntervalAllocator::Reserve(int64_t offset, Bytes size, Life life) {
  if (size.count() == 0) return;
  const auto at =
      std::upper_bound(begin_.begin(), begin_.end(), offset) - begin_.begin();
  first_.insert(first_.begin() + at, life.first);
  last_.insert(last_.begin() + at, life.last);
  begin_.insert(begin_.begin() + at, offset);
  end_.insert(end_.begin() + at, offset + size.count());
  extent_ = std::max(extent_, Bytes(offset + size.count()));
}

std::optional<int64_t> IntervalAllocator::Place(Bytes size, Life life) {
  if (size.count() == 0) return 0;
  int64_t best = -1;
  int64_t best_hole = std::numeric_limits<int64_t>::max();
  int64_t at = 0;  // first aligned address after the blocks so far
  const int n = static_cast<int>(begin_.size());
  for (int i = 0; i < n; ++i) {
    if (first_[i] > life.last || last_[i] < life.first) continue;
    const int64_t hole = begin_[i] - at;
    if (hole >= size.count() && hole < best_hole) {
      best = at;
      best_hole = hole;
      // None is smaller: of equal arrays many leave such holes.
      if (hole == size.count()) break;
    }
    if (end_[i] > at) at = RoundUpTo(end_[i], alignment_);
  }
  if (best < 0) {
    if (at > capacity_ - size.count()) return std::nullopt;
    best = at;
  }
  Reserve(best, size, life);
  return best;
}

}  // namespace ptxla::memory
