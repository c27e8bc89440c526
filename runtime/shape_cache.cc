#include "runtime/shape_cache.h"

namespace ptxla::runtime {

void ShapeCache::Unlink(int slot) {
  const Entry& e = entries_[slot];
  (e.newer < 0 ? newest_ : entries_[e.newer].older) = e.older;
  (e.older < 0 ? oldest_ : entries_[e.older].newer) = e.newer;
}

void ShapeCache::MakeNewest(int slot) {
  entries_[slot].newer = -1;
  entries_[slot].older = newest_;
  (newest_ < 0 ? oldest_ : entries_[newest_].newer) = slot;
  newest_ = slot;
}

bool ShapeCache::Touch(uint64_t hash) {
  const auto [it, is_new] = slots_.try_emplace(hash, 0);
  if (!is_new) {
    if (it->second != newest_) {
      Unlink(it->second);
      MakeNewest(it->second);
    }
    return true;
  }
  if (static_cast<int>(entries_.size()) < capacity_) {
    it->second = static_cast<int>(entries_.size());
    entries_.push_back({hash, -1, -1});
  } else {
    const int slot = oldest_;
    it->second = slot;
    Unlink(slot);
    slots_.erase(entries_[slot].hash);
    entries_[slot].hash = hash;
  }
  MakeNewest(static_cast<int>(slots_.find(hash)->second));
  return false;
}

}  // namespace ptxla::runtime
