#include "base/numerics/transcendental.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "base/numerics/bits.h"
#include "base/numerics/transcendental64.h"
#include "gtest/gtest.h"

namespace ptxla::numerics {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Distance in units in the last place of the nearer result; 0 for two NaNs.
template <class T, class Bits>
double Ulps(T got, long double want) {
  if (want != want) return got != got ? 0 : 1e30;
  const T nearest = static_cast<T>(want);
  if (nearest == got) return 0;
  if (got != got || std::isinf(got) || std::isinf(nearest)) return 1e30;
  T next = std::nextafter(std::fabs(nearest), std::numeric_limits<T>::max());
  const long double ulp = static_cast<long double>(next) - std::fabs(nearest);
  return static_cast<double>(std::fabs(got - want) / ulp);
}

using Fn32 = float (*)(float);
using Fn64 = double (*)(double);
using Ref = long double (*)(long double);

struct Case {
  const char* name;
  Fn32 f32;
  Fn64 f64;
  Ref reference;
  double low;  // sampled range; 0, 0: every bit pattern
  double high;
};

long double RefRsqrt(long double x) { return 1 / sqrtl(x); }
long double RefRcp(long double x) { return 1 / x; }
long double RefLogistic(long double x) { return 1 / (1 + expl(-x)); }

class Accuracy : public ::testing::TestWithParam<Case> {};

TEST_P(Accuracy, FloatIsWithinOneUlp) {
  const Case& c = GetParam();
  double worst = 0;
  float at = 0;
  // Every 9973rd bit pattern, and all patterns of bf16.
  auto check = [&](float x) {
    const double error = Ulps<float, uint32_t>(
        c.f32(x), c.reference(static_cast<long double>(x)));
    if (error > worst) {
      worst = error;
      at = x;
    }
  };
  for (uint64_t bits = 0; bits < (1ull << 32); bits += 9973) {
    check(FloatFromBits(static_cast<uint32_t>(bits)));
  }
  for (uint32_t code = 0; code < 65536; ++code) {
    check(FloatFromBits(code << 16));
  }
  EXPECT_LE(worst, 1.0) << c.name << "(" << at << ") = " << c.f32(at);
}

TEST_P(Accuracy, DoubleIsWithinFourUlp) {
  const Case& c = GetParam();
  std::mt19937_64 random(7);
  double worst = 0;
  double at = 0;
  for (int i = 0; i < 40000; ++i) {
    double x;
    if (i % 2) {
      x = BitCast<double>(random());  // any double
    } else {
      const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
      x = c.low + (c.high - c.low) * unit;
    }
    const double error = Ulps<double, uint64_t>(
        c.f64(x), c.reference(static_cast<long double>(x)));
    if (error > worst) {
      worst = error;
      at = x;
    }
  }
  EXPECT_LE(worst, 4.0) << c.name << "(" << at << ") = " << c.f64(at);
}

INSTANTIATE_TEST_SUITE_P(
    All, Accuracy,
    ::testing::Values(Case{"exp2", Exp2, Exp2, exp2l, -1074, 1024},
                      Case{"log2", Log2, Log2, log2l, 0, 4},
                      Case{"rcp", Rcp, Rcp, RefRcp, -2, 2},
                      Case{"rsqrt", Rsqrt, Rsqrt, RefRsqrt, 0, 9},
                      Case{"tanh", Tanh, Tanh, tanhl, -4, 4},
                      Case{"erf", Erf, Erf, erfl, -6, 6},
                      Case{"sin", Sin, Sin, sinl, -100, 100},
                      Case{"cos", Cos, Cos, cosl, -100, 100},
                      Case{"exp", Exp, Exp, expl, -745, 710},
                      Case{"expm1", Expm1, Expm1, expm1l, -3, 3},
                      Case{"log", Log, Log, logl, 0, 4},
                      Case{"log1p", Log1p, Log1p, log1pl, -1, 2},
                      Case{"sqrt", Sqrt, Sqrt, sqrtl, 0, 9},
                      Case{"cbrt", Cbrt, Cbrt, cbrtl, -9, 9},
                      Case{"logistic", Logistic, Logistic, RefLogistic, -30,
                           30},
                      Case{"tan", Tan, Tan, tanl, -100, 100},
                      Case{"asin", Asin, Asin, asinl, -1, 1},
                      Case{"acos", Acos, Acos, acosl, -1, 1},
                      Case{"sinh", Sinh, Sinh, sinhl, -9, 9},
                      Case{"cosh", Cosh, Cosh, coshl, -9, 9},
                      Case{"asinh", Asinh, Asinh, asinhl, -9, 9},
                      Case{"acosh", Acosh, Acosh, acoshl, 1, 9},
                      Case{"atanh", Atanh, Atanh, atanhl, -1, 1}),
    [](const auto& info) { return info.param.name; });

TEST(PowTest, IsAccurateOverItsRange) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 100000; ++i) {
    const double x = Exp2(static_cast<double>(random() % 20000) / 100 - 100);
    const double y = static_cast<double>(random() >> 11) * 0x1p-53 * 14 - 7;
    const long double want = powl(x, y);
    EXPECT_LE((Ulps<double, uint64_t>(Pow(x, y), want)), 4.0)
        << x << " ^ " << y;
    const float xf = static_cast<float>(x);
    const float yf = static_cast<float>(y);
    EXPECT_LE((Ulps<float, uint32_t>(Pow(xf, yf), powl(xf, yf))), 1.0)
        << xf << " ^ " << yf;
  }
}

TEST(PowTest, TreatsSpecialValuesAsC) {
  const double values[] = {0.0,   -0.0, 1.0,  -1.0,      2.0,        -2.0,
                           0.5,   3.0,  -3.0, kInfinity, -kInfinity, NAN,
                           1e308, -0.5, 2.5,  1e-310};
  for (double x : values) {
    for (double y : values) {
      const double want = std::pow(x, y);
      const double got = Pow(x, y);
      if (want != want) {
        EXPECT_NE(got, got) << x << " ^ " << y;
      } else {
        EXPECT_DOUBLE_EQ(got, want) << x << " ^ " << y;
        EXPECT_EQ(std::signbit(got), std::signbit(want)) << x << " ^ " << y;
      }
    }
  }
}

TEST(Atan2Test, CoversEveryQuadrantAndInfinity) {
  const double values[] = {0.0,  -0.0,  1.0,       -1.0,      0.3,
                           -7.0, 1e300, kInfinity, -kInfinity};
  for (double y : values) {
    for (double x : values) {
      EXPECT_LE((Ulps<double, uint64_t>(Atan2(y, x), atan2l(y, x))), 4.0)
          << y << " " << x;
      EXPECT_EQ(std::signbit(Atan2(y, x)), std::signbit(std::atan2(y, x)));
    }
  }
}

TEST(SinTest, ReducesHugeArgumentsExactly) {
  // 2^120 and the double nearest to a multiple of pi/2 (Kahan's worst case).
  EXPECT_DOUBLE_EQ(Sin(std::ldexp(1.0, 120)), std::sin(std::ldexp(1.0, 120)));
  const double worst = 6381956970095103.0 * std::ldexp(1.0, 797);
  EXPECT_DOUBLE_EQ(Cos(worst), -4.6871659242546277e-19);
}

TEST(EupTest, PowersOfTwoAreExact) {
  for (int k = -126; k <= 127; ++k) {
    const float power = std::ldexp(1.0f, k);
    EXPECT_EQ(Exp2(static_cast<float>(k)), power);
    EXPECT_EQ(Log2(power), static_cast<float>(k));
  }
}

}  // namespace
}  // namespace ptxla::numerics
