#include "isa/tiled_layout.h"

#include <cstring>

#include "gtest/gtest.h"

namespace ptxla::isa {
namespace {

TEST(TiledLayoutTest, F32TilesAre8By128RowMajor) {
  const TiledLayout l{{16, 256}, {1, 0}, {{8, 128}}, 32};
  EXPECT_EQ(l.ByteSize(), 16 * 256 * 4);
  EXPECT_EQ(l.ElementOffset({0, 0}), 0);
  EXPECT_EQ(l.ElementOffset({1, 5}), 128 + 5);
  EXPECT_EQ(l.ElementOffset({0, 128}), 1024);
  EXPECT_EQ(l.ElementOffset({8, 0}), 2048);
}

TEST(TiledLayoutTest, Bf16RowsLieInPairs) {
  const TiledLayout l{{16, 256}, {1, 0}, {{8, 128}, {2, 1}}, 16};
  EXPECT_EQ(l.ElementOffset({1, 0}), 1);
  EXPECT_EQ(l.ElementOffset({0, 1}), 2);
  EXPECT_EQ(l.ElementOffset({2, 0}), 256);
  EXPECT_EQ(l.ElementOffset({0, 128}), 1024);
}

TEST(TiledLayoutTest, RaggedArraysArePadded) {
  const TiledLayout l{{3, 9, 130}, {2, 1, 0}, {{8, 128}}, 32};
  EXPECT_EQ(l.PaddedElements(), 3 * 16 * 256);
  const TiledLayout one{{5}, {0}, {{1024}}, 32};
  EXPECT_EQ(one.ByteSize(), 4096);
  const TiledLayout transposed{{4, 200}, {0, 1}, {{8, 128}}, 32};
  EXPECT_EQ(transposed.PaddedElements(), 200 * 128);
  EXPECT_EQ(transposed.ElementOffset({3, 1}), 128 + 3);
}

TEST(TiledLayoutTest, UnpackInvertsPack) {
  for (int bits : {4, 8, 16, 32}) {
    const TiledLayout l{{5, 200}, {1, 0}, {{8, 128}, {2, 1}}, bits};
    const int width = bits < 8 ? 1 : bits / 8;
    std::vector<uint8_t> data(l.NumElements() * width);
    for (size_t i = 0; i < data.size(); ++i) {
      data[i] = static_cast<uint8_t>(i * 37 + i / 7) & (bits == 4 ? 0xF : 0xFF);
    }
    const std::string packed = l.Pack(data);
    std::vector<uint8_t> bytes(packed.begin(), packed.end());
    EXPECT_EQ(l.Unpack(bytes), data) << bits;
  }
}

TEST(TiledLayoutTest, PackPutsElementsAtTheirOffsets) {
  const TiledLayout l{{3, 5, 130}, {1, 2, 0}, {{8, 128}, {2, 1}}, 16};
  std::vector<uint8_t> data(l.NumElements() * 2);
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<uint8_t>(i * 89 + i / 251);
  }
  const std::string packed = l.Pack(data);
  int64_t at = 0;
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 5; ++j) {
      for (int64_t k = 0; k < 130; ++k, at += 2) {
        const int64_t offset = 2 * l.ElementOffset({i, j, k});
        ASSERT_EQ(packed.substr(offset, 2),
                  std::string(reinterpret_cast<char*>(&data[at]), 2));
      }
    }
  }
  const TiledLayout scalar{{}, {}, {}, 32};
  const uint8_t kWord[] = {1, 2, 3, 4};
  EXPECT_EQ(scalar.Pack(kWord), std::string("\1\2\3\4"));
}

TEST(TiledLayout, WideElementsLieInTwoPlanes) {
  const TiledLayout l{{2, 3}, {1, 0}, {{2, 128}}, 64};
  std::string logical(6 * 8, '\0');
  for (int i = 0; i < 6; ++i) {
    logical[i * 8] = static_cast<char>(1 + i);
    logical[i * 8 + 4] = static_cast<char>(101 + i);
  }
  const absl::Span<const uint8_t> bytes(
      reinterpret_cast<const uint8_t*>(logical.data()), logical.size());
  const std::string packed = l.Pack(bytes);
  ASSERT_EQ(packed.size(), 2 * 2 * 128 * 4);
  EXPECT_EQ(packed[128 * 4], 4);                // element {1, 0}, low half
  EXPECT_EQ(packed[(256 + 128 + 1) * 4], 105);  // element {1, 1}, high half
  const std::vector<uint8_t> back = l.Unpack(
      {reinterpret_cast<const uint8_t*>(packed.data()), packed.size()});
  EXPECT_TRUE(absl::MakeConstSpan(back) == bytes);
}

}  // namespace
}  // namespace ptxla::isa
