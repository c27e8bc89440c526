#include "hlo_backend/evaluator/buffer_pool.h"

#include "gtest/gtest.h"

namespace ptxla::hlo {
namespace {

TEST(BufferPoolTest, AnAbandonedBufferIsTakenAgain) {
  auto pool = std::make_shared<BufferPool>();
  const uint8_t* address = nullptr;
  {
    const auto buffer = pool->Take(1 << 20);
    address = buffer->data();
    EXPECT_EQ(pool->kept_bytes(), 0u);
  }
  EXPECT_EQ(pool->kept_bytes(), 1u << 20);
  EXPECT_NE(pool->Take((1 << 20) + 1)->data(), address);
  EXPECT_EQ(pool->Take(1 << 20)->data(), address);
}

TEST(BufferPoolTest, BytesThatLeftAreNotGivenBack) {
  auto pool = std::make_shared<BufferPool>();
  std::vector<uint8_t> kept;
  {
    const auto buffer = pool->Take(1 << 20);
    kept = std::move(*buffer);
  }
  EXPECT_EQ(kept.size(), 1u << 20);
  EXPECT_EQ(pool->kept_bytes(), 0u);
}

TEST(BufferPoolTest, BuffersOutliveTheOwnerOfThePool) {
  auto pool = std::make_shared<BufferPool>();
  const std::weak_ptr<BufferPool> alive = pool;
  auto buffer = pool->Take(1 << 20);
  pool.reset();
  EXPECT_FALSE(alive.expired());
  EXPECT_EQ(buffer->size(), 1u << 20);
  buffer.reset();
  EXPECT_TRUE(alive.expired());
}

}  // namespace
}  // namespace ptxla::hlo
