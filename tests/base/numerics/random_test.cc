#include "base/numerics/random.h"

#include <vector>

#include "base/numerics/tiled_words.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ptxla::numerics {
namespace {

using ::testing::ElementsAre;

// Known answers published with Random123 (kat_vectors).
TEST(ThreeFryTest, MatchesPublishedVectors) {
  EXPECT_THAT(ThreeFry2x32({0, 0}, {0, 0}),
              ElementsAre(0x6b200159, 0x99ba4efe));
  EXPECT_THAT(ThreeFry2x32({0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
              ElementsAre(0x1cb996fc, 0xbb002be7));
  EXPECT_THAT(ThreeFry2x32({0x243f6a88, 0x85a308d3}, {0x13198a2e, 0x03707344}),
              ElementsAre(0xc4923a9c, 0x483df7a0));
}

TEST(PhiloxTest, MatchesPublishedVectors) {
  EXPECT_THAT(Philox4x32({0, 0, 0, 0}, {0, 0}),
              ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  EXPECT_THAT(Philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                         {0xa4093822, 0x299f31d0}),
              ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

TEST(HardwareRandomTest, FillEqualsWordByWord) {
  std::vector<uint32_t> words(1031);
  HardwareRandomFill(5, 9, 1022, absl::MakeSpan(words));
  for (size_t i = 0; i < words.size(); ++i) {
    EXPECT_EQ(words[i], HardwareRandomWord(5, 9, 1022 + i));
  }
}

TEST(HardwareRandomTest, BitsAreBalanced) {
  std::vector<uint32_t> words(1 << 16);
  HardwareRandomFill(214013, 0, 0, absl::MakeSpan(words));
  for (int bit = 0; bit < 32; ++bit) {
    int ones = 0;
    for (uint32_t w : words) ones += (w >> bit) & 1;
    EXPECT_NEAR(ones, 1 << 15, 640) << bit;  // five standard deviations
  }
}

TEST(HardwareRandomTest, EveryBitOfTheKeyMatters) {
  const uint32_t word = HardwareRandomWord(1, 2, 3);
  for (int bit = 0; bit < 64; ++bit) {
    EXPECT_NE(HardwareRandomWord(1 ^ (1ull << bit), 2, 3), word);
    EXPECT_NE(HardwareRandomWord(1, 2 ^ (1ull << bit), 3), word);
  }
}

TEST(TiledWordsTest, ThirtyTwoBitTilesAreEightByOneTwentyEight) {
  TiledWords words({3, 10, 130}, 32);
  EXPECT_EQ(words.word_count(), 3 * 2 * 2 * 1024);
  EXPECT_EQ(words.At({0, 0, 127}).word, 127);
  EXPECT_EQ(words.At({0, 0, 128}).word, 1024);
  EXPECT_EQ(words.At({0, 7, 0}).word, 7 * 128);
  EXPECT_EQ(words.At({0, 8, 0}).word, 2048);
  EXPECT_EQ(words.At({1, 0, 0}).word, 4096);
}

TEST(TiledWordsTest, SixteenBitRowsSharePairsOfAWord) {
  TiledWords words({16, 128}, 16);
  EXPECT_EQ(words.word_count(), 1024);
  EXPECT_EQ(words.At({0, 5}).word, 5);
  EXPECT_EQ(words.At({0, 5}).shift, 0);
  EXPECT_EQ(words.At({1, 5}).word, 5);
  EXPECT_EQ(words.At({1, 5}).shift, 16);
  EXPECT_EQ(words.At({2, 0}).word, 128);
  EXPECT_EQ(words.At({8, 0}).word, 512);  // the next tile
}

TEST(TiledWordsTest, EightBitRowsShareFourOfAWord) {
  TiledWords words({64, 128}, 8);
  EXPECT_EQ(words.At({3, 1}).shift, 24);
  EXPECT_EQ(words.At({4, 1}).word, 129);
  EXPECT_EQ(words.At({32, 0}).word, 1024);
}

TEST(TiledWordsTest, OneDimensionIsDense) {
  TiledWords words({3000}, 32);
  EXPECT_EQ(words.At({2999}).word, 2999);
  EXPECT_EQ(words.word_count(), 3072);
  TiledWords halves({3000}, 16);
  EXPECT_EQ(halves.At({128}).word, 0);
  EXPECT_EQ(halves.At({128}).shift, 16);
}

}  // namespace
}  // namespace ptxla::numerics
