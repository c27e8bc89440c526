// Places blocks with known lives into one address space: two blocks may share
// addresses only if their lives do not overlap. Best fit: a block goes into the
// smallest hole that holds it at all times of its life.
//
// For VMEM residency (a capacity, requests in order of worth, refusals are
// normal) and for buffer assignment (no capacity, largest first).
//
//   IntervalAllocator vmem(Bytes(96 << 20), /*alignment=*/Bytes(4096));
//   std::optional<int64_t> at = vmem.Place(Bytes(1 << 20), {10, 25});
#ifndef PTXLA_MEMORY_MODEL_INTERVAL_ALLOCATOR_H_
#define PTXLA_MEMORY_MODEL_INTERVAL_ALLOCATOR_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"

namespace ptxla::memory {

// Positions in a schedule, both ends included: alive at `first` and at `last`.
struct Life {
  int32_t first = 0;
  int32_t last = 0;
};

class IntervalAllocator {
 public:
  explicit IntervalAllocator(Bytes capacity, Bytes alignment = Bytes(1));

  // The offset, or nullopt if no hole is large enough. A block of 0 bytes is
  // at 0 and takes no place.
  std::optional<int64_t> Place(Bytes size, Life life);
  // Takes [offset, offset + size) for `life` without asking.
  void Reserve(int64_t offset, Bytes size, Life life);

  // Bytes from 0 to the highest address ever used.
  Bytes extent() const { return extent_; }

 private:
  // Blocks by offset; parallel arrays, so that the scan over lives is fast.
  std::vector<int32_t> first_, last_;
  std::vector<int64_t> begin_, end_;
  int64_t capacity_, alignment_;
  Bytes extent_;
};

}  // namespace ptxla::memory

#endif  // PTXLA_MEMORY_MODEL_INTERVAL_ALLOCATOR_H_
