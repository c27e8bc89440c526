#include "base/numerics/float_formats.h"

#include <cmath>
#include <random>

#include "gtest/gtest.h"

namespace ptxla::numerics {
namespace {

const FloatFormat kAll[] = {kBf16,       kF16,      kF8E5M2,        kF8E4M3,
                            kF8E3M4,     kF8E4M3Fn, kF8E4M3B11Fnuz, kF8E5M2Fnuz,
                            kF8E4M3Fnuz, kF4E2M1Fn, kF6E2M3Fn,      kF6E3M2Fn};

TEST(FloatFormatTest, EveryCodeSurvivesARoundTrip) {
  for (const FloatFormat& format : kAll) {
    for (uint32_t code = 0; code < (1u << format.bits()); ++code) {
      const float value = DecodeFloat(format, code);
      if (std::isnan(value)) {
        EXPECT_TRUE(
            std::isnan(DecodeFloat(format, EncodeFloat(format, value))));
      } else {
        EXPECT_EQ(EncodeFloat(format, value), code) << format.bits();
      }
    }
  }
}

// Against a search of the nearest code, which knows nothing of bit tricks.
TEST(FloatFormatTest, RoundsToTheNearestCodeTiesToEven) {
  std::mt19937 random(3);
  for (const FloatFormat& format : kAll) {
    if (format.bits() > 8) continue;
    for (int i = 0; i < 4000; ++i) {
      const float low =
          DecodeFloat(format, random() % (1u << (format.bits() - 1)));
      const float value =
          i % 3 == 0   ? low * 1.0625f
          : i % 3 == 1 ? low * (1 + (random() % 1024) / 4096.0f)
                       : std::ldexp(static_cast<float>(random() % 4096),
                                    static_cast<int>(random() % 40) - 30);
      if (!std::isfinite(value)) continue;
      uint32_t best = 0;
      double best_distance = HUGE_VAL;
      float largest = 0;
      for (uint32_t code = 0; code < (1u << (format.bits() - 1)); ++code) {
        const float decoded = DecodeFloat(format, code);
        if (!std::isfinite(decoded)) continue;
        largest = std::fmax(largest, decoded);
        const double distance = std::fabs(double{decoded} - value);
        if (distance < best_distance ||
            (distance == best_distance && code % 2 == 0)) {
          best_distance = distance;
          best = code;
        }
      }
      if (value > largest) continue;  // overflow is tested apart
      EXPECT_EQ(EncodeFloat(format, value), best)
          << value << " e" << format.exponent_bits << "m"
          << format.mantissa_bits;
    }
  }
}

TEST(FloatFormatTest, OverflowGoesWhereTheFormatHasRoom) {
  EXPECT_EQ(EncodeFloat(kF8E5M2, 1e9f), 0x7cu);
  EXPECT_EQ(EncodeFloat(kF8E5M2, -1e9f), 0xfcu);
  EXPECT_EQ(EncodeFloat(kF8E4M3Fn, 1e9f), 0x7fu);
  EXPECT_EQ(EncodeFloat(kF8E4M3Fn, 448.0f), 0x7eu);
  EXPECT_EQ(EncodeFloat(kF8E4M3Fn, 464.0f), 0x7eu);  // a tie, to even
  EXPECT_EQ(EncodeFloat(kF8E4M3Fn, 465.0f), 0x7fu);
  EXPECT_EQ(EncodeFloat(kF8E4M3B11Fnuz, 1e9f), 0x80u);
  EXPECT_EQ(EncodeFloat(kF4E2M1Fn, 1e9f), 0x7u);
  EXPECT_EQ(EncodeFloat(kF4E2M1Fn, -1e9f), 0xfu);
  EXPECT_EQ(EncodeFloat(kF16, 65520.0f), 0x7c00u);
  EXPECT_EQ(EncodeFloat(kF16, 65519.0f), 0x7bffu);
}

TEST(FloatFormatTest, MinusZeroIsPlusZeroWhereItsCodeIsNan) {
  EXPECT_EQ(EncodeFloat(kF8E4M3Fnuz, -0.0f), 0u);
  EXPECT_EQ(EncodeFloat(kF8E4M3Fnuz, -1e-9f), 0u);
  EXPECT_EQ(EncodeFloat(kF8E4M3Fn, -0.0f), 0x80u);
}

TEST(FloatFormatTest, FastBf16EqualsTheGeneralRule) {
  for (uint64_t bits = 0; bits < (1ull << 32); bits += 40961) {
    const float value = FloatFromBits(static_cast<uint32_t>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(RoundToBf16(value)));
    } else if (std::fabs(value) >= 0x1p-126f) {
      EXPECT_EQ(EncodeBf16(value), EncodeFloat(kBf16, value)) << value;
    }
  }
  // Subnormals of bf16 too.
  EXPECT_EQ(EncodeBf16(FloatFromBits(0x00018000u)), 2u);
  EXPECT_EQ(EncodeFloat(kBf16, FloatFromBits(0x00018000u)), 2u);
}

TEST(FloatFormatTest, FastF16EqualsTheGeneralRule) {
  for (uint64_t bits = 0; bits < (1ull << 32); bits += 40961) {
    const float value = FloatFromBits(static_cast<uint32_t>(bits));
    EXPECT_EQ(EncodeF16(value), EncodeFloat(kF16, value)) << value;
  }
  for (float value : {65519.996f, 65520.0f, 0x1p-14f, 0x1.ffep-15f, 2049.0f,
                      2051.0f, -2049.0f}) {
    EXPECT_EQ(EncodeF16(value), EncodeFloat(kF16, value)) << value;
  }
}

TEST(FloatFormatTest, DoubleRoundsOnce) {
  // Just above a tie of bf16; rounding to float first would land on the tie.
  const double value = 1.0 + 0x1p-8 + 0x1p-40;
  EXPECT_EQ(static_cast<float>(Bfloat16(value)), 1.0f + 0x1p-7f);
  EXPECT_EQ(static_cast<float>(Bfloat16(static_cast<float>(value))), 1.0f);
}

TEST(ReducePrecisionTest, FollowsTheBitsAskedFor) {
  EXPECT_EQ(ReducePrecision(1.0f + 0x1p-8f, 8, 7), 1.0f);
  EXPECT_EQ(ReducePrecision(1.0f + 3 * 0x1p-8f, 8, 7), 1.0f + 0x1p-6f);
  EXPECT_EQ(ReducePrecision(65520.0f, 5, 10), HUGE_VALF);
  EXPECT_EQ(ReducePrecision(0x1p-15f, 5, 10), 0.0f);  // flushed
  EXPECT_TRUE(std::isnan(ReducePrecision(NAN, 5, 10)));
}

TEST(F8E8M0Test, HoldsPowersOfTwo) {
  EXPECT_EQ(DecodeF8E8M0(127), 1.0f);
  EXPECT_EQ(DecodeF8E8M0(0), 0x1p-127f);
  EXPECT_TRUE(std::isnan(DecodeF8E8M0(255)));
  for (int code = 0; code < 255; ++code) {
    EXPECT_EQ(EncodeF8E8M0(DecodeF8E8M0(static_cast<uint8_t>(code))), code);
  }
}

TEST(NarrowIntegerTest, WrapsAround) {
  EXPECT_EQ(WrapSigned<4>(7), 7);
  EXPECT_EQ(WrapSigned<4>(8), -8);
  EXPECT_EQ(WrapSigned<4>(-9), 7);
  EXPECT_EQ(WrapUnsigned<4>(17), 1);
  EXPECT_EQ(WrapSigned<1>(1), -1);
}

}  // namespace
}  // namespace ptxla::numerics
