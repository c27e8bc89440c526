#include "base/numerics/recipes.h"

#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/numerics/float_ops.h"
#include "gtest/gtest.h"

namespace ptxla::numerics {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

class RecipesTest : public ::testing::TestWithParam<int> {
 protected:
  FloatOps ops_;
  Recipes<FloatOps> r_{ops_, EupOfGeneration(GetParam())};

  // Largest relative error over a range, in units of 2^-23.
  template <class F, class G>
  double Worst(F f, G reference, double low, double high) {
    double worst = 0;
    for (int i = 0; i <= 20000; ++i) {
      const float x = static_cast<float>(low + (high - low) * i / 20000);
      const double want = reference(static_cast<double>(x));
      const double error =
          std::fabs(f(x) - want) / std::fmax(std::fabs(want), 1e-30);
      worst = std::fmax(worst, error * 0x1p23);
    }
    return worst;
  }
};

TEST_P(RecipesTest, AreAccurateToAFewUnits) {
  auto logistic = [](double x) { return 1 / (1 + std::exp(-x)); };
  auto rsqrt = [](double x) { return 1 / std::sqrt(x); };
  auto rcp = [](double x) { return 1 / x; };
  EXPECT_LT(Worst([&](float x) { return r_.Exp(x); },
                  [](double x) { return std::exp(x); }, -10, 10),
            20);
  EXPECT_LT(Worst([&](float x) { return r_.Log(x); },
                  [](double x) { return std::log(x); }, 0.001, 30),
            3);
  EXPECT_LT(Worst([&](float x) { return r_.Rcp(x); }, rcp, 0.1, 100), 2);
  EXPECT_LT(Worst([&](float x) { return r_.Rsqrt(x); }, rsqrt, 0.1, 100), 3);
  EXPECT_LT(Worst([&](float x) { return r_.Sqrt(x); },
                  [](double x) { return std::sqrt(x); }, 0, 100),
            3);
  EXPECT_LT(Worst([&](float x) { return r_.Logistic(x); }, logistic, -20, 20),
            20);
  EXPECT_LT(Worst([&](float x) { return r_.Erf(x); },
                  [](double x) { return std::erf(x); }, -5, 5),
            5);
  EXPECT_LT(Worst([&](float x) { return r_.Power(x, 2.5f); },
                  [](double x) { return std::pow(x, 2.5); }, 0.01, 100),
            20);
  EXPECT_LT(Worst([&](float x) { return r_.Cbrt(x); },
                  [](double x) { return std::cbrt(x); }, -100, 100),
            3);
}

TEST_P(RecipesTest, ExpAndLogNearZeroKeepTheirDigits) {
  EXPECT_LT(Worst([&](float x) { return r_.Expm1(x); },
                  [](double x) { return std::expm1(x); }, -2, 2),
            200);
  EXPECT_LT(Worst([&](float x) { return r_.Log1p(x); },
                  [](double x) { return std::log1p(x); }, -0.9, 2),
            200);
  EXPECT_FLOAT_EQ(r_.Expm1(1e-20f), 1e-20f);
  EXPECT_FLOAT_EQ(r_.Log1p(1e-20f), 1e-20f);
}

TEST_P(RecipesTest, SineAndCosineHoldInEveryQuadrant) {
  for (int i = -4000; i <= 4000; ++i) {
    const float x = i * 0.025f;
    EXPECT_NEAR(r_.Sin(x), std::sin(double{x}), 4e-7) << x;
    EXPECT_NEAR(r_.Cos(x), std::cos(double{x}), 4e-7) << x;
  }
}

TEST_P(RecipesTest, AnglesOfAnySizeAreReducedExactly) {
  // Every exponent, and the float that is nearest to a multiple of pi / 2.
  for (int exponent = -126; exponent < 128; ++exponent) {
    for (const float mantissa : {1.0f, 1.2345678f, 1.5f, 1.9999999f}) {
      for (const float sign : {1.0f, -1.0f}) {
        const float x = std::ldexp(sign * mantissa, exponent);
        const double sine = std::sin(double{x}), cosine = std::cos(double{x});
        EXPECT_NEAR(r_.Sin(x) / sine, 1, 4e-7) << x;
        EXPECT_NEAR(r_.Cos(x) / cosine, 1, 4e-7) << x;
      }
    }
  }
  constexpr float kNearest = 16367173.0f * 0x1p72f;
  EXPECT_NEAR(r_.Cos(kNearest) / std::cos(double{kNearest}), 1, 4e-7);
  EXPECT_TRUE(std::signbit(r_.Sin(-0.0f)));
  for (const float x : {kInf, -kInf, float{NAN}}) {
    EXPECT_TRUE(std::isnan(r_.Sin(x)));
    EXPECT_TRUE(std::isnan(r_.Cos(x)));
  }
}

TEST_P(RecipesTest, PowersOfSubnormalAndOfLargeNumbers) {
  EXPECT_NEAR(r_.Power(0x1.8p-140f, 0.5f) / std::pow(0x1.8p-140, 0.5), 1, 2e-5);
  EXPECT_NEAR(r_.Power(0x1.8p+120f, -1.0f) / std::pow(0x1.8p+120, -1), 1, 2e-5);
  EXPECT_EQ(r_.Power(-2.0f, 0x1.000002p24f), kInf);
  EXPECT_EQ(r_.Power(0.1f, 1.0f), 0.1f);
  EXPECT_EQ(r_.Power(-3.0f, 3.0f), -r_.Power(3.0f, 3.0f));
}

TEST_P(RecipesTest, SpecialValuesAreThoseOfC) {
  EXPECT_EQ(r_.Rcp(0.0f), kInf);
  EXPECT_EQ(r_.Rcp(-0.0f), -kInf);
  EXPECT_EQ(r_.Rcp(kInf), 0.0f);
  EXPECT_EQ(r_.Rcp(0x1p126f), 0x1p-126f);
  EXPECT_EQ(r_.Rsqrt(0.0f), kInf);
  EXPECT_EQ(r_.Rsqrt(kInf), 0.0f);
  EXPECT_TRUE(std::isnan(r_.Rsqrt(-1.0f)));
  EXPECT_EQ(r_.Sqrt(kInf), kInf);
  EXPECT_EQ(r_.Sqrt(0.0f), 0.0f);
  EXPECT_TRUE(std::signbit(r_.Sqrt(-0.0f)));
  EXPECT_EQ(r_.Erf(kInf), r_.Erf(10.0f));
  EXPECT_EQ(r_.Logistic(-kInf), 0.0f);
  EXPECT_EQ(r_.Expm1(-kInf), -1.0f);
  EXPECT_EQ(r_.Divide(3.0f, 0.0f), kInf);
  const float values[] = {0.0f, -0.0f, 1.0f, -1.0f, 2.0f,  -2.0f,
                          0.5f, 3.0f,  kInf, -kInf, -2.5f, NAN};
  for (float x : values) {
    for (float y : values) {
      const float want = std::pow(x, y);
      const float got = r_.Power(x, y);
      if (std::isnan(want)) {
        EXPECT_TRUE(std::isnan(got)) << x << "^" << y;
      } else {
        EXPECT_NEAR(got == want ? 0 : got / want - 1, 0, 1e-6) << x << "^" << y;
      }
    }
  }
}

TEST_P(RecipesTest, AConstantPowerIsThePower) {
  std::vector<float> bases = {0.0f, -0.0f, 1.0f, -1.0f,       kInf,
                              NAN,  -kInf, 0.3f, 0x1.8p-140f, 0x1.fp126f};
  for (int k = -40; k <= 40; ++k) bases.push_back(0.37f * k);
  for (const float y : {2.3f, 0.5f, -0.5f, 3.0f, -3.0f, 4.0f, -2.0f, 0x1p25f,
                        1e-3f, 16777215.0f}) {
    for (const float x : bases) {
      const float want = r_.Power(x, y), got = r_.Power(x, Exponent{y});
      EXPECT_TRUE(got == want || (std::isnan(got) && std::isnan(want)))
          << x << "^" << y << ": " << got << " for " << want;
      if (!std::isnan(want)) {
        EXPECT_EQ(std::signbit(got), std::signbit(want)) << x << "^" << y;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Generations, RecipesTest, ::testing::Values(5, 6));

// Counts what a chip would issue; an EUP operation takes a VALU slot too.
struct CountingOps {
  using V = int;
  using M = char;
  int wide_multiply = 8;  // operations (wide_multiply.h)
  int valu = 0, eup = 0;
  V One() { return ++valu; }
  V Eup() {
    ++eup;
    return ++valu;
  }
  M Mask() {
    ++valu;
    return 0;
  }
  V Const(float) { return 0; }
  V Bits(uint32_t) { return 0; }
  V Add(V, V) { return One(); }
  V Add(V, float) { return One(); }
  V Sub(V, V) { return One(); }
  V Mul(V, V) { return One(); }
  V Mul(V, float) { return One(); }
  V Max(V, float) { return One(); }
  V Min(V, float) { return One(); }
  V Round(V) { return One(); }
  V And(V, uint32_t) { return One(); }
  V Or(V, V) { return One(); }
  V Xor(V, V) { return One(); }
  V OrBits(V, uint32_t) { return One(); }
  V AddBits(V, int32_t) { return One(); }
  V SubBits(V, V) { return One(); }
  V SubBits(uint32_t, V) { return One(); }
  V MaxBits(V, V) { return One(); }
  V ShiftLeft(V, V) { return One(); }
  V ShiftRight(V, V) { return One(); }
  V LeadingZeros(V) { return One(); }
  V ToFloat(V) { return One(); }
  V ToInteger(V) { return One(); }
  std::pair<V, V> MultiplyBy96(V, const std::array<V, 3>&) {
    valu += wide_multiply;
    return {0, 0};
  }
  V Exp2(V) { return Eup(); }
  V Log2(V) { return Eup(); }
  V Rcp(V) { return Eup(); }
  V Rsqrt(V) { return Eup(); }
  V Tanh(V) { return Eup(); }
  V Sigmoid(V) { return Eup(); }
  V Erf(V) { return Eup(); }
  V Sin(V) { return Eup(); }
  V Cos(V) { return Eup(); }
  M Less(V, float) { return Mask(); }
  M Equal(V, V) { return Mask(); }
  M Equal(V, float) { return Mask(); }
  M NotEqual(V, V) { return Mask(); }
  M LessBits(V, int32_t) { return Mask(); }
  M EqualBits(V, uint32_t) { return Mask(); }
  M AtLeastBits(V, int32_t) { return Mask(); }
  M Weird(V) { return Mask(); }
  // The compiler's schedules show no VALU slot for masks' logic.
  M Or(M, M) { return 0; }
  M And(M, M) { return 0; }
  M Xor(M, M) { return 0; }
  M Not(M) { return 0; }
  V Select(M, V, V) { return One(); }
};

// Absolute: small values lose digits.
TEST(RecipeCostTest, BeforeV5eALogisticIsHalfATanh) {
  FloatOps ops;
  Recipes<FloatOps> recipes(ops, EupOfGeneration(4));
  for (float x = -20; x < 20; x += 0.01f) {
    EXPECT_NEAR(recipes.Logistic(x), 1 / (1 + std::exp(-double{x})), 0x1p-23);
  }
  CountingOps counted;
  Recipes<CountingOps>(counted, EupOfGeneration(4)).Logistic(0);
  EXPECT_EQ(counted.valu, 4);
  EXPECT_EQ(counted.eup, 1);
}

TEST(RecipeCostTest, OperationsAreThoseOfThePublishedSchedules) {
  struct Row {
    const char* name;
    int (Recipes<CountingOps>::*recipe)(int);
    int valu5, eup5, valu6, eup6;
  };
  using R = Recipes<CountingOps>;
  const Row rows[] = {
      {"exp", &R::Exp, 2, 1, 2, 1},     {"log", &R::Log, 2, 1, 2, 1},
      {"tanh", &R::Tanh, 1, 1, 1, 1},   {"log1p", &R::Log1p, 9, 1, 9, 1},
      {"rsqrt", &R::Rsqrt, 9, 1, 1, 1}, {"sqrt", &R::Sqrt, 12, 1, 7, 1},
      {"rcp", &R::Rcp, 13, 1, 1, 1},    {"logistic", &R::Logistic, 2, 1, 2, 1},
      {"erf", &R::Erf, 38, 1, 1, 1},    {"sine", &R::Sin, 148, 0, 96, 2}};
  for (const Row& row : rows) {
    for (int generation : {5, 6}) {
      CountingOps ops;
      if (generation == 5) ops.wide_multiply = 37;
      R r(ops, EupOfGeneration(generation));
      (r.*row.recipe)(0);
      const int valu = generation == 5 ? row.valu5 : row.valu6;
      EXPECT_NEAR(ops.valu, valu, 0.16 * valu) << row.name;
      EXPECT_EQ(ops.eup, generation == 5 ? row.eup5 : row.eup6) << row.name;
    }
  }
  for (const auto& [generation, valu, eup] :
       {std::array{5, 84, 1}, std::array{6, 41, 2}}) {
    CountingOps ops;
    R(ops, EupOfGeneration(generation)).Power(0, 0);
    EXPECT_NEAR(ops.valu, valu, 0.17 * valu);
    EXPECT_EQ(ops.eup, eup);
  }
  // libtpu 0.0.42.1 on v6e: 16 for |x| + 1 to the power of 2.3, and 2 of them
  // for the sum.
  CountingOps ops;
  R(ops, EupOfGeneration(6)).Power(0, Exponent{2.3f});
  EXPECT_NEAR(ops.valu, 14, 2);
}

}  // namespace
}  // namespace ptxla::numerics
