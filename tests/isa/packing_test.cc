// Narrow types in registers: how they are packed into words, unpacked and
// computed with, against plain C++.
#include <algorithm>

#include "base/numerics/float_formats.h"
#include "core_fixture.h"

namespace ptxla::isa {
namespace {

using testing::AsFloat;
using testing::At;
using testing::MakeFloats;
using testing::MakeWords;
using testing::Mixed;
using testing::RunBundles;
using testing::Words;

// A packed register in memory is two tiles of layout T(8,128)(2,1): unpacking
// gives their rows in order.
TEST(PackingTest, Bf16PackAndUnpackKeepRowOrder) {
  const Words low = MakeFloats([](int s, int l) { return s + l / 128.0f; });
  const Words high = MakeFloats([](int s, int l) { return 8 + s - l / 64.0f; });
  ASSERT_OK_AND_ASSIGN(
      const auto out,
      RunBundles("{v10 = vpack.c.bf16 v1, v2} {v11 = vunpack.c.l.bf16 v10} "
                 "{v12 = vunpack.c.h.bf16 v10} {v13 = vpack.i.bf16 v1, v2} "
                 "{v14 = vunpack.i.l.bf16 v13} {v15 = vunpack.i.h.bf16 v13}",
                 {low, high}, 6));
  for (int s = 0; s < 8; ++s) {
    for (int l = 0; l < kLanes; ++l) {
      const float x = AsFloat(low[At(s, l)]);
      const float y = AsFloat(high[At(s, l)]);
      const int row = s;  // row of the low tile
      const uint32_t word = out[0][At(row / 2, l)];
      EXPECT_EQ(numerics::DecodeBf16(word >> (row % 2 * 16)),
                numerics::RoundToBf16(x));
      EXPECT_EQ(AsFloat(out[1][At(s, l)]), numerics::RoundToBf16(x));
      EXPECT_EQ(AsFloat(out[2][At(s, l)]), numerics::RoundToBf16(y));
      EXPECT_EQ(AsFloat(out[4][At(s, l)]), numerics::RoundToBf16(x));
      EXPECT_EQ(AsFloat(out[5][At(s, l)]), numerics::RoundToBf16(y));
    }
  }
}

TEST(PackingTest, F16PacksLikeBf16) {
  const Words low =
      MakeFloats([](int s, int l) { return s * 100 + l * 0.37f; });
  const Words high = MakeFloats([](int s, int l) { return -s - l * 1e-5f; });
  ASSERT_OK_AND_ASSIGN(
      const auto out,
      RunBundles("{v12 = vpack.c.f16 v1, v2} {v10 = vunpack.c.l.f16 v12} "
                 "{v11 = vunpack.c.h.f16 v12}",
                 {low, high}, 2));
  auto round = [](uint32_t x) {
    return numerics::DecodeF16(numerics::EncodeF16(AsFloat(x)));
  };
  for (int w = 0; w < kVregWords; ++w) {
    EXPECT_EQ(AsFloat(out[0][w]), round(low[w]));
    EXPECT_EQ(AsFloat(out[1][w]), round(high[w]));
  }
}

TEST(PackingTest, BytesPackFourRowsPerWord) {
  std::vector<Words> rows;
  for (int part = 0; part < 4; ++part) {
    rows.push_back(MakeWords([part](int s, int l) {
      return static_cast<uint32_t>((part * 8 + s) * 5 + l - 100);
    }));
  }
  ASSERT_OK_AND_ASSIGN(
      const auto out,
      RunBundles("{v20 = vpack.c.b16 v1, v2} {v21 = vpack.c.b16 v3, v4} "
                 "{v10 = vpack.c.b8 v20, v21} "
                 "{v11 = vunpack.c.0.s8 v10} {v12 = vunpack.c.1.s8 v10} "
                 "{v13 = vunpack.c.2.s8 v10} {v14 = vunpack.c.3.s8 v10} "
                 "{v15 = vunpack.c.0.u8 v10} {v16 = vunpack.c.1.u8 v10} "
                 "{v17 = vunpack.c.2.u8 v10} {v18 = vunpack.c.3.u8 v10}",
                 rows, 9));
  for (int r = 0; r < 32; ++r) {
    for (int l = 0; l < kLanes; ++l) {
      const uint32_t value = rows[r / 8][At(r % 8, l)];
      EXPECT_EQ(out[0][At(r / 4, l)] >> (r % 4 * 8) & 0xFF, value & 0xFF);
      EXPECT_EQ(static_cast<int32_t>(out[1 + r / 8][At(r % 8, l)]),
                static_cast<int8_t>(value));
      EXPECT_EQ(out[5 + r / 8][At(r % 8, l)], value & 0xFF);
    }
  }
}

TEST(PackingTest, WordsOfOneTilePackIntoEveryPartOfARegister) {
  const Words a = MakeWords(
      [](int s, int l) { return static_cast<uint32_t>(5 * l - 310 + s); });
  ASSERT_OK_AND_ASSIGN(const auto out,
                       RunBundles("{v10 = vpack.w.s8 v1} {v11 = vpack.w.u8 v1} "
                                  "{v12 = vunpack.c.0.s8 v10} "
                                  "{v13 = vunpack.c.3.s8 v10} "
                                  "{v14 = vunpack.c.2.u8 v11}",
                                  {a}, 5));
  for (int w = 0; w < kVregWords; ++w) {
    const auto value = static_cast<int32_t>(a[w]);
    EXPECT_EQ(static_cast<int32_t>(out[2][w]), std::clamp(value, -128, 127));
    EXPECT_EQ(out[3][w], out[2][w]);
    EXPECT_EQ(static_cast<int32_t>(out[4][w]), std::clamp(value, 0, 255));
  }
}

TEST(PackingTest, FourBitRowsOfTwoRegistersKeepTheirOrder) {
  const Words a = Mixed(5), b = Mixed(6);
  ASSERT_OK_AND_ASSIGN(const auto out, RunBundles("{v10 = vpack.c.b4 v1, v2} "
                                                  "{v11 = vunpack.c.l.s4 v10} "
                                                  "{v12 = vunpack.c.h.s4 v10}",
                                                  {a, b}, 3));
  for (int r = 0; r < 32; ++r) {
    const int shift = r % 4 * 8;
    for (int l = 0; l < kLanes; ++l) {
      for (int k = 0; k < 2; ++k) {
        const uint32_t from = (k == 0 ? a : b)[At(r / 4, l)] >> shift & 0xF;
        const uint32_t wide = out[1 + k][At(r / 4, l)] >> shift & 0xFF;
        EXPECT_EQ(wide, from & 8 ? from | 0xF0 : from);
      }
    }
  }
}

TEST(PackingTest, EightBitFloatsKeepRowOrder) {
  std::vector<Words> rows;
  for (int part = 0; part < 4; ++part) {
    rows.push_back(MakeFloats([part](int s, int l) {
      return (part * 8 + s - 15) * 1.7f * static_cast<float>(l - 60);
    }));
  }
  ASSERT_OK_AND_ASSIGN(
      const auto out,
      RunBundles("{v14 = vcvt.f8e5m2.f32 v1} {v15 = vcvt.f8e5m2.f32 v2} "
                 "{v16 = vcvt.f8e5m2.f32 v3} {v17 = vcvt.f8e5m2.f32 v4} "
                 "{v18 = vpack.c.b16 v14, v15} {v19 = vpack.c.b16 v16, v17} "
                 "{v20 = vpack.c.b8 v18, v19} "
                 "{v10 = vunpack.c.0.f8e5m2 v20} "
                 "{v11 = vunpack.c.1.f8e5m2 v20} "
                 "{v12 = vunpack.c.2.f8e5m2 v20} "
                 "{v13 = vunpack.c.3.f8e5m2 v20}",
                 rows, 4));
  for (int part = 0; part < 4; ++part) {
    for (int w = 0; w < kVregWords; ++w) {
      EXPECT_EQ(
          AsFloat(out[part][w]),
          numerics::DecodeFloat(numerics::kF8E5M2,
                                numerics::EncodeFloat(numerics::kF8E5M2,
                                                      AsFloat(rows[part][w]))));
    }
  }
}

TEST(PackingTest, SixteenBitIntegersExtend) {
  const Words a = Mixed(3);
  ASSERT_OK_AND_ASSIGN(
      const auto out,
      RunBundles("{v10 = vunpack.c.l.s16 v1} {v11 = vunpack.c.h.s16 v1} {v12 = "
                 "vunpack.c.l.u16 v1} {v13 = vunpack.c.h.u16 v1}",
                 {a}, 4));
  for (int r = 0; r < 16; ++r) {
    for (int l = 0; l < kLanes; ++l) {
      const uint16_t x = static_cast<uint16_t>(a[At(r / 2, l)] >> (r % 2 * 16));
      EXPECT_EQ(static_cast<int32_t>(out[r / 8][At(r % 8, l)]),
                static_cast<int16_t>(x));
      EXPECT_EQ(out[2 + r / 8][At(r % 8, l)], x);
    }
  }
}

TEST(PackingTest, PackedBf16ArithmeticWorksOnBothHalves) {
  const Words lo = MakeFloats([](int s, int l) { return s + 0.1f * l; });
  const Words hi = MakeFloats([](int s, int l) { return l - 7.0f * s; });
  for (const char* op : {"vadd", "vsub", "vmul", "vmax", "vmin"}) {
    ASSERT_OK_AND_ASSIGN(
        const auto out,
        RunBundles(absl::StrCat("{v3 = vpack.i.bf16 v1, v2} {v4 = vpack.i.bf16 "
                                "v2, v1} {v5 = ",
                                op,
                                ".bf16 v3, v4} {v10 = vunpack.i.l.bf16 v5} "
                                "{v11 = vunpack.i.h.bf16 v5}"),
                   {lo, hi}, 2));
    for (int w = 0; w < kVregWords; ++w) {
      const float x = numerics::RoundToBf16(AsFloat(lo[w]));
      const float y = numerics::RoundToBf16(AsFloat(hi[w]));
      auto f = [&](float a, float b) {
        const std::string name = op;
        if (name == "vadd") return a + b;
        if (name == "vsub") return a - b;
        if (name == "vmul") return a * b;
        return name == "vmax" ? std::max(a, b) : std::min(a, b);
      };
      EXPECT_EQ(AsFloat(out[0][w]), numerics::RoundToBf16(f(x, y))) << op;
      EXPECT_EQ(AsFloat(out[1][w]), numerics::RoundToBf16(f(y, x))) << op;
    }
  }
}

}  // namespace
}  // namespace ptxla::isa
