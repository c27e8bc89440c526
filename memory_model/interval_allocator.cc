#include "memory_model/interval_allocator.h"

#include <algorithm>
#include <limits>

namespace ptxla::memory {
namespace {

// Most blocks live at other times: so many are looked at together, without a
// branch for each.
constexpr int kTogether = 32;

// Any of the next kTogether lives that begin at `first` and `last`. A life that
// does not meet has a negative difference; vector instructions have those.
bool AnyMeets(const int32_t* first, const int32_t* last, Life life) {
  int32_t differences = -1;
  for (int k = 0; k < kTogether; ++k) {
    differences &= (life.last - first[k]) | (last[k] - life.first);
  }
  return differences >= 0;
}

}  // namespace

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
  // Of holes that are just as large none is smaller: of equal arrays many leave
  // such.
  bool is_exact = false;
  for (int i = 0; i < n && !is_exact;) {
    const int end = std::min(n, i + kTogether);
    if (end - i == kTogether && !AnyMeets(&first_[i], &last_[i], life)) i = end;
    for (; i < end && !is_exact; ++i) {
      if (first_[i] > life.last || last_[i] < life.first) continue;
      const int64_t hole = begin_[i] - at;
      if (hole >= size.count() && hole < best_hole) {
        best = at;
        best_hole = hole;
        is_exact = hole == size.count();
      }
      if (end_[i] > at) at = RoundUpTo(end_[i], alignment_);
    }
  }
  if (best < 0) {
    if (at > capacity_ - size.count()) return std::nullopt;
    best = at;
  }
  Reserve(best, size, life);
  return best;
}

}  // namespace ptxla::memory
