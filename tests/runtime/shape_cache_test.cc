#include "runtime/shape_cache.h"

#include "gtest/gtest.h"

namespace ptxla::runtime {
namespace {

TEST(ShapeCacheTest, AHashIsKnownFromTheSecondTimeOn) {
  ShapeCache cache(4);
  EXPECT_FALSE(cache.Touch(7));
  EXPECT_TRUE(cache.Touch(7));
  EXPECT_TRUE(cache.Touch(7));
}

TEST(ShapeCacheTest, TheLeastRecentEntryGoes) {
  ShapeCache cache(3);
  for (uint64_t hash : {1, 2, 3}) cache.Touch(hash);
  EXPECT_TRUE(cache.Touch(1));
  EXPECT_FALSE(cache.Touch(4));  // 2 goes
  EXPECT_TRUE(cache.Touch(3));
  EXPECT_TRUE(cache.Touch(1));
  EXPECT_FALSE(cache.Touch(2));  // 4 goes
  EXPECT_FALSE(cache.Touch(4));
}

// A graph larger than the cache, traced again and again, never hits.
TEST(ShapeCacheTest, ALoopLongerThanTheCacheMissesEveryTime) {
  ShapeCache cache(10);
  for (int round = 0; round < 3; ++round) {
    for (uint64_t hash = 0; hash < 11; ++hash) EXPECT_FALSE(cache.Touch(hash));
  }
}

}  // namespace
}  // namespace ptxla::runtime
