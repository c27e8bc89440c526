#include "runtime/compile_cache.h"

#include "gtest/gtest.h"

namespace ptxla::runtime {
namespace {

TEST(CompileCacheTest, TheLeastRecentlyUsedEntryGoes) {
  CompileCache<int> cache(2);
  cache.Insert(1, 10);
  cache.Insert(2, 20);
  ASSERT_NE(cache.Find(1), nullptr);
  cache.Insert(3, 30);
  EXPECT_EQ(cache.Find(2), nullptr);
  EXPECT_EQ(*cache.Find(1), 10);
  EXPECT_EQ(*cache.Find(3), 30);
  EXPECT_EQ(cache.size(), 2);
}

TEST(CompileCacheTest, InsertingAKnownHashReplaces) {
  CompileCache<int> cache(2);
  cache.Insert(1, 10);
  cache.Insert(1, 11);
  EXPECT_EQ(*cache.Find(1), 11);
  EXPECT_EQ(cache.size(), 1);
}

}  // namespace
}  // namespace ptxla::runtime
