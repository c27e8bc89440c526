// PyTorch/XLA's cache of inferred shapes: the hashes of the last nodes whose
// shape was asked for. Inferring one builds a small computation; finding one
// costs nothing worth counting.
//
//   ShapeCache cache;
//   cache.Touch(node.dag_hash())   // false the first time, then true
#ifndef PTXLA_RUNTIME_SHAPE_CACHE_H_
#define PTXLA_RUNTIME_SHAPE_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace ptxla::runtime {

// XLA_IR_SHAPE_CACHE_SIZE, pytorch/xla csrc/ir.cpp.
inline constexpr size_t kShapeCacheEntries = 12288;

class ShapeCache {
 public:
  explicit ShapeCache(size_t capacity = kShapeCacheEntries)
      : capacity_(static_cast<int>(capacity)) {}

  // True if `hash` is there. Either way it is the most recent entry after; the
  // least recent one goes when there are too many.
  bool Touch(uint64_t hash);

 private:
  struct Entry {
    uint64_t hash = 0;
    int newer = -1, older = -1;
  };
  void Unlink(int slot);
  void MakeNewest(int slot);

  int capacity_;
  std::vector<Entry> entries_;  // a list by recency, linked by index
  int newest_ = -1, oldest_ = -1;
  absl::flat_hash_map<uint64_t, int> slots_;
};

}  // namespace ptxla::runtime

#endif  // PTXLA_RUNTIME_SHAPE_CACHE_H_
