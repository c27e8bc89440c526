#include "hlo_backend/evaluator/buffer_pool.h"

#include <utility>

namespace ptxla::hlo {

std::shared_ptr<BufferPool::Buffer> BufferPool::Take(size_t bytes) {
  if (bytes < kSmallest) return std::make_shared<Buffer>(bytes);
  std::unique_ptr<Buffer> buffer;
  auto& list = free_[bytes];
  if (list.empty()) {
    buffer = std::make_unique<Buffer>(bytes);
  } else {
    buffer = std::move(list.back());
    list.pop_back();
    kept_bytes_ -= bytes;
  }
  std::shared_ptr<BufferPool> pool = shared_from_this();
  return {buffer.release(), [pool, bytes](Buffer* b) {
            pool->GiveBack(std::unique_ptr<Buffer>(b), bytes);
          }};
}

void BufferPool::GiveBack(std::unique_ptr<Buffer> buffer, size_t bytes) {
  // A result that left as a literal took its bytes along.
  if (buffer->size() != bytes || kept_bytes_ + bytes > kMostKept) return;
  free_[bytes].push_back(std::move(buffer));
  kept_bytes_ += bytes;
}

}  // namespace ptxla::hlo
