// Do convolution kernels compute what HLO says? Bundles against the evaluator,
// on random windows, shapes, types and chips.
#include <random>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/hlo_backend/lowering/convolutions/convolution_text.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

class ConvolutionKernelTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ConvolutionKernelTest, RandomWindowsEqualTheEvaluator) {
  std::mt19937 random(7);
  const auto pick = [&](std::vector<int64_t> of) {
    return of[random() % of.size()];
  };
  int done = 0;
  for (int n = 0; done < 10; ++n) {
    Conv c;
    c.batch = pick({1, 2, 7, 8, 9, 16, 24});
    c.k = pick({1, 3, 16, 40, 128, 130, 200});
    c.n = pick({1, 8, 64, 128, 130, 260});
    c.in_f32 = random() % 2 == 0;
    c.w_f32 = random() % 2 == 0;
    c.out_f32 = random() % 2 == 0;
    c.w_transposed = random() % 2 == 0;
    const int rank = static_cast<int>(1 + random() % 3);
    bool exists = true;
    for (int d = 0; d < rank; ++d) {
      ConvolutionDim x;
      x.in = pick({1, 2, 3, 5, 8});
      x.taps = pick({1, 2, 3});
      x.stride = pick({1, 1, 2, 3});
      x.low = pick({0, 0, 1, 2, -1});
      x.high = pick({0, 1, 2, -1});
      x.base_dilation = pick({1, 1, 2, 3});
      x.window_dilation = pick({1, 1, 2});
      x.reversal = random() % 3 == 0;
      exists &= x.Exists();
      c.dims.push_back(x);
    }
    if (!exists) continue;
    ++done;
    HarnessOptions options = On(GetParam());
    options.seed = n;
    EXPECT_OK(CompareKernel(Hlo(c), options).status()) << GetParam() << Hlo(c);
  }
}

// Groups that passes have made planes of: each output meets one plane and its
// own weights, which a step has alone.
TEST_P(ConvolutionKernelTest, PlanesMayHaveWeightsOfTheirOwn) {
  for (const bool transposed : {false, true}) {
    Conv c;
    c.batch = 16;
    c.k = 136;
    c.n = 256;
    c.w_transposed = transposed;
    ConvolutionDim groups, x;
    groups.in = groups.taps = groups.base_dilation = 5;
    groups.stride = 4;
    x.in = 6;
    x.taps = 3;
    x.low = x.high = 1;
    c.dims = {groups, x};
    for (const std::vector<int>& in_vmem :
         {std::vector<int>{}, {0}, {1}, {0, 1}, {2}}) {
      HarnessOptions options = On(GetParam());
      options.in_vmem = in_vmem;
      const auto result = CompareKernel(Hlo(c), options);
      EXPECT_OK(result.status()) << GetParam() << Hlo(c);
    }
  }
}

// Windows that move over the grid, with borders of zeros.
TEST_P(ConvolutionKernelTest, ACutImageHasItsBorders) {
  for (const int64_t stride : {1, 2}) {
    for (const int64_t base : {3 - stride}) {
      Conv c;
      c.batch = 16;
      c.k = 64;
      c.n = 128;
      ConvolutionDim x;
      x.in = 18;
      x.taps = 3;
      x.stride = stride;
      x.low = 2;
      x.high = 3;
      x.base_dilation = base;
      c.dims.assign(2, x);
      const std::string hlo = Hlo(c);
      const auto result = CompareKernel(hlo, On(GetParam()));
      EXPECT_OK(result.status()) << GetParam() << hlo;
      EXPECT_TRUE(!result.ok() || result->kernel.NumSteps() > 1);
    }
  }
}

// A volume of three cut axes whose border planes are filled by loops, more of
// them than a kernel has addresses that it keeps.
TEST_P(ConvolutionKernelTest, ManyBordersShareAnAddress) {
  Conv c;
  c.batch = 1;
  c.k = c.n = 96;
  c.in_f32 = c.out_f32 = true;
  c.dims = {ConvolutionDim{4, 3, 1, 1, 1}, ConvolutionDim{24, 3, 8, 1, 1},
            ConvolutionDim{56, 3, 8, 1, 1}};
  EXPECT_OK(CompareKernel(Hlo(c), On(GetParam())).status());
}

// An input that lies in VMEM is read there by every step: those at its ends do
// not multiply what lies beyond the borders.
TEST_P(ConvolutionKernelTest, ACutImageInVmemIsReadInPlace) {
  for (const int64_t low : {0, 1, 2, 3}) {
    Conv c;
    c.batch = 24;
    c.k = low == 1 || low == 3 ? 64 : 130;  // taps of few are packed
    c.n = 128;
    ConvolutionDim x;
    x.in = low == 1 ? 21 : 24;
    x.taps = low == 3 ? 5 : 3;
    x.stride = low == 2 ? 2 : 1;
    x.low = low;
    x.high = 1;
    c.dims.assign(2, x);
    const std::string hlo = Hlo(c);
    HarnessOptions options = On(GetParam());
    options.in_vmem = {0};
    const auto result = CompareKernel(hlo, options);
    EXPECT_OK(result.status()) << GetParam() << hlo;
    EXPECT_TRUE(!result.ok() || x.stride > 1 || result->kernel.NumSteps() > 1)
        << hlo;
  }
}

// 128 features of a K tile, whether they are one tap's or several ones'.
TEST(ConvolutionKernelTest, TapsOfFewFeaturesShareKTiles) {
  struct Case {
    int64_t k, n, taps, stride, batch, in;
    int64_t tiles;
  };
  for (const Case& x :
       {Case{64, 64, 3, 1, 8, 12, 5}, Case{3, 64, 7, 2, 8, 19, 2},
        Case{3, 130, 7, 2, 16, 16, 2}, Case{20, 24, 3, 1, 24, 9, 3},
        Case{16, 128, 5, 3, 9, 20, 5}, Case{64, 32, 3, 1, 24, 7, 5},
        Case{33, 40, 3, 1, 1, 14, 3}, Case{8, 16, 4, 1, 8, 24, 1},
        Case{64, 64, 3, 1, 8, 13, 5}}) {
    for (const bool transposed : {false, true}) {
      for (const bool f32 : {false, true}) {
        Conv c;
        c.batch = x.batch;
        c.k = x.k;
        c.n = x.n;
        c.w_transposed = transposed;
        c.in_f32 = c.out_f32 = f32;
        c.w_f32 = f32 != transposed;
        ConvolutionDim d;
        d.in = x.in;
        d.taps = x.taps;
        d.stride = x.stride;
        d.low = x.taps / 2;
        d.high = x.taps / 2;
        c.dims.assign(2, d);
        const std::string hlo = Hlo(c);
        const auto result = CompareKernel(hlo, On("v5e"));
        EXPECT_OK(result.status()) << hlo;
        if (!result.ok() || transposed) continue;
        EXPECT_THAT(result->kernel.note, ::testing::HasSubstr(absl::StrCat(
                                             "taps in ", x.tiles, " K tiles")))
            << hlo;
      }
    }
  }
}

// A gradient of weights: a window as large as the image, few outputs.
TEST(ConvolutionKernelTest, TapsAreCutWhereOutputsAreFew) {
  Conv c;
  c.batch = 24;
  c.k = 32;
  c.n = 40;
  ConvolutionDim x;
  x.in = 28;
  x.taps = 28;
  x.low = x.high = 1;
  c.dims.assign(2, x);
  c.in_f32 = c.w_f32 = c.out_f32 = true;
  HarnessOptions options = On("v5e");
  options.absolute = 0.3;
  const auto result = CompareKernel(Hlo(c), options);
  EXPECT_OK(result.status());
  EXPECT_TRUE(!result.ok() || result->kernel.NumSteps() > 1);
}

INSTANTIATE_TEST_SUITE_P(Chips, ConvolutionKernelTest,
                         ::testing::Values("v2", "v3", "v4", "v5e", "v5p",
                                           "v6e", "tpu7x"));

TEST(ConvolutionKernelTest, ArraysInVmemAreWalkedInPlace) {
  const std::string hlo = R"(
HloModule m
ENTRY e {
  x = bf16[6,7,3,64] parameter(0)
  w = bf16[3,3,64,130] parameter(1)
  ROOT c = bf16[6,7,3,130] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=01bf_01io->01bf
})";
  for (const char* chip : {"v2", "v5e", "v6e"}) {
    for (const std::vector<int>& in_vmem :
         {std::vector<int>{0}, {1}, {2}, {0, 1, 2}}) {
      HarnessOptions options = On(chip);
      options.in_vmem = in_vmem;
      EXPECT_OK(CompareKernel(hlo, options).status())
          << chip << absl::StrJoin(in_vmem, ",");
    }
  }
}

TEST(ConvolutionKernelTest, WhatIsNotLoweredIsNamed) {
  const auto message = [](const char* hlo) {
    return std::string(KernelOf(hlo, On("v5e")).status().message());
  };
  EXPECT_THAT(message(R"(
HloModule m
ENTRY e {
  x = s8[4,4,8,8] parameter(0)
  w = s8[3,3,8,8] parameter(1)
  ROOT conv.1 = s32[2,2,8,8] convolution(x, w), window={size=3x3}, dim_labels=01bf_01io->01bf
})"),
              ::testing::HasSubstr("%conv.1: a result type"));
  EXPECT_THAT(message(R"(
HloModule m
ENTRY e {
  x = f32[4,4,8,8] parameter(0)
  w = f32[3,3,8,8] parameter(1)
  ROOT conv.1 = f32[2,2,8,8] convolution(x, w), window={size=3x3}, dim_labels=01bf_01io->01bf, operand_precision={highest,highest}
})"),
              ::testing::HasSubstr("%conv.1: precision"));
}

}  // namespace
}  // namespace ptxla::lowering
