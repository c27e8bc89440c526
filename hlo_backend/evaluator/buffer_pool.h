// Large buffers that are given back and taken again: the values of a module
// have few sizes, and asking the system for fresh pages costs as much as the
// arithmetic on them.
//
//   auto pool = std::make_shared<BufferPool>();
//   std::shared_ptr<std::vector<uint8_t>> buffer = pool->Take(1 << 20);
//   // goes back when the last copy of `buffer` is gone
#ifndef PTXLA_HLO_BACKEND_EVALUATOR_BUFFER_POOL_H_
#define PTXLA_HLO_BACKEND_EVALUATOR_BUFFER_POOL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace ptxla::hlo {

class BufferPool : public std::enable_shared_from_this<BufferPool> {
 public:
  using Buffer = std::vector<uint8_t>;

  // `bytes` bytes of any content. The pool must be held by a shared_ptr; it
  // lives as long as its buffers.
  std::shared_ptr<Buffer> Take(size_t bytes);

  size_t kept_bytes() const { return kept_bytes_; }

 private:
  static constexpr size_t kSmallest = 64 << 10;  // smaller: straight new
  static constexpr size_t kMostKept = size_t{2}
                                      << 30;  // more goes to the system

  void GiveBack(std::unique_ptr<Buffer> buffer, size_t bytes);

  absl::flat_hash_map<size_t, std::vector<std::unique_ptr<Buffer>>> free_;
  size_t kept_bytes_ = 0;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_EVALUATOR_BUFFER_POOL_H_
