// Transforms by products with matrices are those of the definition.
#include <cmath>
#include <complex>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/passes/pipeline.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

int CountOf(const Module& module, Opcode opcode) {
  int count = 0;
  for (const Instruction* i : module.entry()->instructions()) {
    count += i->opcode() == opcode ? 1 : 0;
  }
  return count;
}

// The number of products that it takes.
int ExpectSame(const std::string& body) {
  auto module =
      ParseModule(absl::StrCat("HloModule m\nENTRY e {\n", body, "\n}\n"));
  EXPECT_OK(module.status()) << body;
  Literal x((*module)->entry()->parameter(0)->shape());
  const bool is_complex = IsComplex(x.shape().type());
  std::mt19937 random(7);
  std::normal_distribution<double> part;
  for (int64_t i = 0; i < x.ElementCount(); ++i) {
    const double re = part(random);
    if (is_complex) {
      x.SetComplex(i, {re, part(random)});
    } else {
      x.SetDouble(i, re);
    }
  }
  auto expected = Evaluate(**module, {x});
  EXPECT_OK(expected.status());
  EXPECT_OK(
      Pipeline::FromNames("fft-expander")->Run(module->get(), {}).status());
  EXPECT_OK(VerifyModule(**module));
  EXPECT_EQ(CountOf(**module, Opcode::kFft), 0) << body;
  auto actual = Evaluate(**module, {x});
  EXPECT_OK(actual.status());
  const auto at = [](const Literal& v, int64_t i) {
    return IsComplex(v.shape().type()) ? v.GetComplex(i)
                                       : std::complex<double>(v.GetDouble(i));
  };
  double scale = 0, worst = 0;
  for (int64_t i = 0; i < expected->ElementCount(); ++i) {
    scale = std::max(scale, std::abs(at(*expected, i)));
    worst = std::max(worst, std::abs(at(*expected, i) - at(*actual, i)));
  }
  EXPECT_LE(worst, 2e-6 * scale) << body;
  return CountOf(**module, Opcode::kDot);
}

TEST(FftExpanderTest, EveryLengthIsItsTransform) {
  for (const int n : {1, 2, 3, 7, 8, 96, 100, 127, 129, 384, 1000, 1024}) {
    for (const char* type : {"FFT", "IFFT"}) {
      ExpectSame(absl::Substitute(
          "x = c64[3,$0] parameter(0)\n"
          "ROOT f = c64[3,$0] fft(x), fft_type=$1, fft_length={$0}",
          n, type));
    }
    ExpectSame(absl::Substitute(
        "x = f32[3,$0] parameter(0)\n"
        "ROOT f = c64[3,$1] fft(x), fft_type=RFFT, fft_length={$0}",
        n, n / 2 + 1));
    ExpectSame(absl::Substitute(
        "x = c64[3,$1] parameter(0)\n"
        "ROOT f = f32[3,$0] fft(x), fft_type=IRFFT, fft_length={$0}",
        n, n / 2 + 1));
  }
}

TEST(FftExpanderTest, ManyDimensionsAreTransformedOneAfterTheOther) {
  ExpectSame(
      "x = c64[2,6,7,9] parameter(0)\n"
      "ROOT f = c64[2,6,7,9] fft(x), fft_type=IFFT, fft_length={6,7,9}");
  ExpectSame(
      "x = f32[2,5,8] parameter(0)\n"
      "ROOT f = c64[2,5,5] fft(x), fft_type=RFFT, fft_length={5,8}");
  ExpectSame(
      "x = c64[2,5,5] parameter(0)\n"
      "ROOT f = f32[2,5,9] fft(x), fft_type=IRFFT, fft_length={5,9}");
}

// Counted in the TPU compiler's modules of these lengths.
TEST(FftExpanderTest, LengthsAreCutAsTheTpuCompilerCutsThem) {
  const auto products = [](int n) {
    return ExpectSame(absl::Substitute(
        "x = c64[1,$0] parameter(0)\n"
        "ROOT f = c64[1,$0] fft(x), fft_type=FFT, fft_length={$0}",
        n));
  };
  for (const int n : {8, 48, 60, 64, 100, 127, 128, 200, 256, 1000}) {
    EXPECT_EQ(products(n), 1) << n;
  }
  for (const int n : {96, 160, 192, 320, 384, 512, 1024, 2560, 4096, 16384}) {
    EXPECT_EQ(products(n), 2) << n;
  }
  EXPECT_EQ(products(1 << 18), 3);  // 256 x 128 x 8
}

TEST(FftExpanderTest, WhatHasNoMatrixStays) {
  auto module = ParseModule(
      "HloModule m\nENTRY e {\n x = c64[2,10007] parameter(0)\n"
      " ROOT f = c64[2,10007] fft(x), fft_type=FFT, fft_length={10007}\n}\n");
  ASSERT_OK(module.status());
  ASSERT_OK(
      Pipeline::FromNames("fft-expander")->Run(module->get(), {}).status());
  EXPECT_EQ(CountOf(**module, Opcode::kFft), 1);
}

}  // namespace
}  // namespace ptxla::hlo
