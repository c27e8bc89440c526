// An LRU map from graph hash to executable, as PyTorch/XLA's compilation cache
// (XLA_COMPILATION_CACHE_SIZE entries).
//
//   CompileCache<Executable> cache(kCompileCacheEntries);
//   if (Executable* hit = cache.Find(hash)) ...
#ifndef PTXLA_RUNTIME_COMPILE_CACHE_H_
#define PTXLA_RUNTIME_COMPILE_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace ptxla::runtime {

// pytorch/xla csrc/xla_graph_executor.cpp.
inline constexpr size_t kCompileCacheEntries = 2048;

template <class T>
class CompileCache {
 public:
  explicit CompileCache(size_t capacity) : capacity_(capacity) {}

  // The entry becomes the most recent one. Null: not there. Valid until the
  // next Insert.
  T* Find(uint64_t hash) {
    const auto it = index_.find(hash);
    if (it == index_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, it->second);
    return &it->second->second;
  }

  // Replaces what is there; the least recent entry goes when it is full.
  T* Insert(uint64_t hash, T value) {
    if (T* there = Find(hash)) {
      *there = std::move(value);
      return there;
    }
    if (entries_.size() == capacity_) {
      index_.erase(entries_.back().first);
      entries_.pop_back();
    }
    entries_.emplace_front(hash, std::move(value));
    index_[hash] = entries_.begin();
    return &entries_.front().second;
  }

  size_t size() const { return entries_.size(); }

 private:
  using Entries = std::list<std::pair<uint64_t, T>>;
  size_t capacity_;
  Entries entries_;
  absl::flat_hash_map<uint64_t, typename Entries::iterator> index_;
};

}  // namespace ptxla::runtime

#endif  // PTXLA_RUNTIME_COMPILE_CACHE_H_
