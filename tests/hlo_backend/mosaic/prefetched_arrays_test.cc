// What is a kernel's scalar memory taken to hold before its first step?
#include "hlo_backend/mosaic/prefetched_arrays.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hlo_backend/mosaic/fixtures.h"
#include "tests/support/status_matchers.h"

namespace ptxla::mosaic {
namespace {

using ::ptxla::testing::ReadPallasCase;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

const CallFacts kGroups{
    {}, {{1024, 512}, {4, 512, 512}, {1024, 512}}, /*results=*/1};

// Body's argument of a prefetched array.
int Array(const PallasKernel& k, size_t number) {
  return k.body().arguments[k.grid.size() + number];
}

// 11 entries for 8 blocks of rows and 4 groups: three blocks of rows have parts
// of two groups.
TEST(PrefetchedArraysTest, TablesNameTheirBlocksInOrder) {
  ASSERT_OK_AND_ASSIGN(const PallasKernel k, ReadPallasCase("grouped_product"));
  ScalarMemory memory;
  EXPECT_THAT(FillPrefetched(k, kGroups, &memory),
              ElementsAre("11 entries name 8 blocks in order",
                          "11 entries name 4 blocks in order"));
  std::vector<int64_t> groups, rows;
  for (int64_t i = 0; i < 11; ++i) {
    groups.push_back(memory.Load(Array(k, 0), i).value_or(-1));
    rows.push_back(memory.Load(Array(k, 1), i).value_or(-1));
  }
  EXPECT_THAT(groups, ElementsAre(0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3));
  EXPECT_THAT(rows, ElementsAre(0, 0, 1, 2, 2, 3, 4, 5, 5, 6, 7));
}

TEST(PrefetchedArraysTest, BlocksAreThoseThatTheTableNames) {
  ASSERT_OK_AND_ASSIGN(const PallasKernel k, ReadPallasCase("grouped_product"));
  ScalarMemory memory;
  FillPrefetched(k, kGroups, &memory);
  EXPECT_THAT(k.windows[1].BlockAt(k, {1, 10, 0}, &memory),
              ElementsAre(Optional(3), Optional(0), Optional(1)));
}

// 8 pages of 16 for each of 4 sequences.
TEST(PrefetchedArraysTest, LengthsFillTheRowsOfATableOfPages) {
  ASSERT_OK_AND_ASSIGN(const PallasKernel k, ReadPallasCase("sum_of_pages"));
  ScalarMemory memory;
  EXPECT_THAT(
      FillPrefetched(k, {{}, {{32, 16, 128}, {4, 16, 128}}, 1}, &memory),
      ElementsAre("4 lengths of 128"));
  EXPECT_THAT(memory.Load(Array(k, 0), 3), Optional(128));
  // Which pages does not matter.
  EXPECT_EQ(memory.Load(Array(k, 1), 0), std::nullopt);
}

TEST(PrefetchedArraysTest, ConstantsOfTheProgramAreNotAssumed) {
  ASSERT_OK_AND_ASSIGN(const PallasKernel k, ReadPallasCase("sum_of_pages"));
  ScalarMemory memory;
  const CallFacts facts{{{16, 32, 48, 64}}, {{32, 16, 128}, {4, 16, 128}}, 1};
  EXPECT_THAT(FillPrefetched(k, facts, &memory), IsEmpty());
  EXPECT_THAT(memory.Load(Array(k, 0), 2), Optional(48));
}

TEST(ScalarMemoryTest, WhatIsStoredIsLoaded) {
  ScalarMemory memory;
  EXPECT_EQ(memory.Load(1, 0), std::nullopt);
  memory.Fill(1, [](int64_t at) { return 10 + at; });
  memory.Store(1, 0, 7);
  EXPECT_THAT(memory.Load(1, 0), Optional(7));
  EXPECT_THAT(memory.Load(1, 2), Optional(12));
}

TEST(ScalarMemoryTest, AStoreToSomewhereForgetsTheArray) {
  ScalarMemory memory;
  memory.Fill(1, [](int64_t) { return 10; });
  memory.Fill(2, [](int64_t) { return 20; });
  memory.Store(1, 0, 7);
  memory.Store(1, std::nullopt, 8);
  EXPECT_EQ(memory.Load(1, 0), std::nullopt);
  EXPECT_EQ(memory.Load(1, 3), std::nullopt);
  EXPECT_THAT(memory.Load(2, 0), Optional(20));
}

}  // namespace
}  // namespace ptxla::mosaic
