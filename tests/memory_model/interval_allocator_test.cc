#include "memory_model/interval_allocator.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace ptxla::memory {
namespace {

TEST(IntervalAllocator, LivesThatMeetDoNotShare) {
  IntervalAllocator memory(Bytes(1000));
  EXPECT_EQ(memory.Place(Bytes(100), {0, 5}), 0);
  EXPECT_EQ(memory.Place(Bytes(100), {5, 9}), 100);
  EXPECT_EQ(memory.Place(Bytes(100), {6, 9}), 0);
  EXPECT_EQ(memory.extent(), Bytes(200));
}

TEST(IntervalAllocator, TheSmallestHoleThatFitsIsTaken) {
  IntervalAllocator memory(Bytes(10000));
  memory.Reserve(100, Bytes(100), {0, 9});  // holes 0..100, 200..230, 300..
  memory.Reserve(230, Bytes(70), {0, 9});
  EXPECT_EQ(memory.Place(Bytes(30), {0, 9}), 200);
  EXPECT_EQ(memory.Place(Bytes(90), {0, 9}), 0);
  EXPECT_EQ(memory.Place(Bytes(90), {0, 9}), 300);
}

TEST(IntervalAllocator, WhatDoesNotFitIsRefused) {
  IntervalAllocator vmem(Bytes(100));
  EXPECT_EQ(vmem.Place(Bytes(60), {0, 9}), 0);
  EXPECT_EQ(vmem.Place(Bytes(60), {3, 4}), std::nullopt);
  EXPECT_EQ(vmem.Place(Bytes(60), {10, 12}), 0);
  EXPECT_EQ(vmem.Place(Bytes(101), {20, 21}), std::nullopt);
  EXPECT_EQ(vmem.Place(Bytes(40), {3, 4}), 60);
}

TEST(IntervalAllocator, OffsetsAreAligned) {
  IntervalAllocator memory(Bytes(1 << 20), Bytes(512));
  EXPECT_EQ(memory.Place(Bytes(3), {0, 1}), 0);
  EXPECT_EQ(memory.Place(Bytes(3), {0, 1}), 512);
}

TEST(IntervalAllocator, NothingOverlapsInSpaceAndTime) {
  std::mt19937 random(1);
  IntervalAllocator memory(Bytes(40000), Bytes(32));
  struct Block {
    int64_t at, size;
    Life life;
  };
  std::vector<Block> placed;
  for (int i = 0; i < 2000; ++i) {
    const int32_t first = random() % 1000;
    const Life life{first, static_cast<int32_t>(first + random() % 50)};
    const int64_t size = random() % 2000 + 1;
    if (auto at = memory.Place(Bytes(size), life)) {
      placed.push_back({*at, size, life});
    }
  }
  EXPECT_GT(placed.size(), 500u);
  for (size_t i = 0; i < placed.size(); ++i) {
    EXPECT_LE(placed[i].at + placed[i].size, 40000);
    for (size_t j = 0; j < i; ++j) {
      const Block &a = placed[i], &b = placed[j];
      const bool time =
          a.life.first <= b.life.last && b.life.first <= a.life.last;
      const bool space = a.at < b.at + b.size && b.at < a.at + a.size;
      ASSERT_FALSE(time && space) << i << " " << j;
    }
  }
}

// As a search over all offsets says it.
TEST(IntervalAllocator, OfManyBlocksTheSmallestHoleIsTaken) {
  std::mt19937 random(2);
  IntervalAllocator memory(Bytes(1 << 20));
  struct Block {
    int64_t at, size;
    Life life;
  };
  std::vector<Block> placed;
  for (int i = 0; i < 300; ++i) {
    const int32_t first = random() % 100;
    const Life life{first, static_cast<int32_t>(first + random() % 20)};
    const int64_t size = random() % 50 + 1;
    std::vector<bool> taken(1 << 14, false);
    for (const Block& b : placed) {
      if (b.life.first > life.last || b.life.last < life.first) continue;
      std::fill_n(taken.begin() + b.at, b.size, true);
    }
    int64_t best = -1, best_hole = INT64_MAX;
    for (int64_t at = 0, end; at < static_cast<int64_t>(taken.size());
         at = end) {
      end = std::find(taken.begin() + at, taken.end(), !taken[at]) -
            taken.begin();
      if (taken[at] || end - at < size || end - at >= best_hole) continue;
      best = at;
      best_hole = end - at;
    }
    ASSERT_EQ(memory.Place(Bytes(size), life), best) << i;
    placed.push_back({best, size, life});
  }
}

}  // namespace
}  // namespace ptxla::memory
