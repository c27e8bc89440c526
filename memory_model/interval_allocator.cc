#include "memory_model/interval_allocator.h"

#include <algorithm>
#include <limits>

namespace ptxla::memory {

IntervalAllocator::IntervalAllocator(Bytes capacity, Bytes alignment)
    : capacity_(capacity.count()), alignment_(alignment.count()) {}

void IntervalAllocator::Reserve(int64_t offset, Bytes size, Life life) {
  if (size.count() == 0) return;
  first_.push_back(life.first);
  last_.push_back(life.last);
  blocks_.push_back({offset, offset + size.count()});
  extent_ = std::max(extent_, Bytes(offset + size.count()));
}

std::optional<int64_t> IntervalAllocator::Place(Bytes size, Life life) {
  if (size.count() == 0) return 0;
  overlapping_.clear();
  const int n = static_cast<int>(blocks_.size());
  for (int i = 0; i < n; ++i) {
    if (first_[i] <= life.last && last_[i] >= life.first) {
      overlapping_.push_back(blocks_[i]);
    }
  }
  std::sort(overlapping_.begin(), overlapping_.end(),
            [](const Block& a, const Block& b) { return a.offset < b.offset; });
  int64_t best = -1;
  int64_t best_hole = std::numeric_limits<int64_t>::max();
  int64_t at = 0;  // first aligned address after the blocks so far
  for (const Block& block : overlapping_) {
    const int64_t hole = block.offset - at;
    if (hole >= size.count() && hole < best_hole) {
      best = at;
      best_hole = hole;
    }
    at = std::max(at, RoundUpTo(block.end, alignment_));
  }
  if (best < 0) {
    if (at > capacity_ - size.count()) return std::nullopt;
    best = at;
  }
  Reserve(best, size, life);
  return best;
}

}  // namespace ptxla::memory
