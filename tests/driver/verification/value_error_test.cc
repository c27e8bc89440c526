// What counts as a difference between two arrays?
#include "driver/verification/value_error.h"

#include <cmath>
#include <complex>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ptxla::driver {
namespace {

using hlo::Literal;

Literal Floats(const std::vector<float>& values) {
  return Literal::FromVector<float>({static_cast<int64_t>(values.size())},
                                    values);
}

TEST(ValueErrorTest, ErrorsAreRelativeToTheElementAndTheArray) {
  const ValueError e = Compare(Floats({1, 4, 0}), Floats({1, 4.5f, 0.5f}));
  // 0.5 / (4 + 4) and 0.5 / (0 + 4).
  EXPECT_DOUBLE_EQ(e.worst, 0.125);
  EXPECT_EQ(e.at, 2);
  EXPECT_EQ(e.differing, 2);
  EXPECT_EQ(e.first, 1);
  EXPECT_EQ(e.last, 2);
  EXPECT_DOUBLE_EQ(e.mean, std::sqrt(0.5 / 17));
}

TEST(ValueErrorTest, NotANumberIsNeverClose) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(Compare(Floats({nan, inf}), Floats({nan, inf})).differing, 0);
  EXPECT_TRUE(std::isinf(Compare(Floats({1}), Floats({nan})).mean));
  EXPECT_TRUE(std::isinf(Compare(Floats({1}), Floats({nan})).worst));
  EXPECT_TRUE(std::isinf(Compare(Floats({inf}), Floats({1})).worst));
  EXPECT_TRUE(std::isinf(Compare(Floats({0}), Floats({1e-30f})).mean));
}

TEST(ValueErrorTest, InfinitiesOfANarrowFloatMayBeNumbersOfAWiderOne) {
  const float inf = std::numeric_limits<float>::infinity();
  const Literal expected = Floats({1, inf, inf, inf});
  const Literal exact = Floats({1, 90000, 90000, inf});
  EXPECT_EQ(CompareInWiderRange(expected, exact, Floats({1, 90000, inf, inf}))
                .differing,
            0);
  EXPECT_GT(
      CompareInWiderRange(expected, exact, Floats({1, 80000, inf, inf})).worst,
      0.01);
  EXPECT_TRUE(std::isinf(
      CompareInWiderRange(expected, exact, Floats({1, 90000, inf, 5})).worst));
}

TEST(ValueErrorTest, NumbersTooSmallForANarrowFloatMayBeThoseOfF32) {
  const Literal expected = Floats({0, 0}), exact = Floats({1e-20, 1e-20});
  EXPECT_EQ(CompareInWiderRange(expected, exact, exact).differing, 0);
  EXPECT_EQ(CompareInWiderRange(expected, exact, Floats({0, 1e-20})).differing,
            0);
  EXPECT_GT(CompareInWiderRange(expected, exact, Floats({0, 2e-20})).worst,
            0.1);
}

TEST(ValueErrorTest, AnInfinityMayStandWhereANarrowFloatHasNone) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Literal expected = Floats({nan, nan}), exact = Floats({inf, nan});
  EXPECT_EQ(CompareInWiderRange(expected, exact, Floats({inf, nan})).differing,
            0);
  for (const Literal& wrong : {Floats({-inf, nan}), Floats({inf, inf})}) {
    EXPECT_TRUE(std::isinf(CompareInWiderRange(expected, exact, wrong).worst));
  }
}

// 448 * 448 is no number of f8e4m3fn, in f16 it is an infinity.
TEST(ValueErrorTest, ANumberOfF32MayBeAnInfinityWhereItIsStored) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto f16 = [](float x) {
    Literal literal(hlo::Shape::Array(hlo::PrimitiveType::kF16, {1}));
    literal.mutable_bytes();
    literal.SetDouble(0, x);
    return literal;
  };
  const Literal exact = Floats({200704});
  EXPECT_EQ(CompareInWiderRange(f16(nan), exact, f16(1e9)).differing, 0);
  EXPECT_TRUE(
      std::isinf(CompareInWiderRange(f16(nan), exact, f16(-1e9)).worst));
}

TEST(ValueErrorTest, ComplexNumbersDifferByTheirDistance) {
  const auto numbers = [](std::complex<float> a, std::complex<float> b) {
    return Literal::FromVector<std::complex<float>>({2}, {a, b});
  };
  const ValueError e =
      Compare(numbers({3, 4}, {0, 1}), numbers({3, 4}, {1, 1}));
  EXPECT_DOUBLE_EQ(e.worst, 1.0 / (1 + 5));
  EXPECT_DOUBLE_EQ(e.mean, std::sqrt(1 / 26.0));
  EXPECT_EQ(Describe(e, hlo::Shape::Array(hlo::PrimitiveType::kC64, {2})),
            "at {1} expected (0, 1), got (1, 1); 1 of 2 differ, {1} to {1}");
  // No number is none, whichever part says so.
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(
      Compare(numbers({nan, 0}, {1, 2}), numbers({1, nan}, {1, 2})).differing,
      0);
}

TEST(ValueErrorTest, IntegersMustBeEqual) {
  const Literal a = Literal::FromVector<int32_t>({3}, {1, 2, 3});
  const Literal b = Literal::FromVector<int32_t>({3}, {1, 2, 4});
  EXPECT_EQ(Compare(a, a).worst, 0);
  const ValueError e = Compare(a, b);
  EXPECT_GT(e.worst, Tolerance::Kernel(32));
  EXPECT_EQ(Describe(e, a.shape()),
            "at {2} expected 3, got 4; 1 of 3 differ, {2} to {2}");
}

TEST(ValueErrorTest, NarrowTypesMayDifferByTheirLastBit) {
  EXPECT_GE(Tolerance::Kernel(16), 1.0 / 256);
  EXPECT_LT(Tolerance::Kernel(32), 1e-4);
}

}  // namespace
}  // namespace ptxla::driver
