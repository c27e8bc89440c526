// Do convolution kernels compute what HLO says? Bundles against the evaluator,
// on random windows, shapes, types and chips.
#include <random>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

HarnessOptions On(const std::string& chip) {
  HarnessOptions options;
  options.chip = chip;
  options.low = -1;
  options.high = 1;
  options.absolute = 0.03;
  options.relative = 0.03;
  return options;
}

// One spatial dimension.
struct Dim {
  int64_t in = 1, taps = 1, stride = 1, low = 0, high = 0;
  int64_t base_dilation = 1, window_dilation = 1;
  bool reversal = false;
  int64_t Out() const {
    const int64_t padded = (in - 1) * base_dilation + 1 + low + high;
    return (padded - ((taps - 1) * window_dilation + 1)) / stride + 1;
  }
  bool Exists() const {
    return (in - 1) * base_dilation + 1 + low + high >=
           (taps - 1) * window_dilation + 1;
  }
};

struct Conv {
  int64_t batch = 1, k = 1, n = 1;
  std::vector<Dim> dims;
  bool in_f32 = false, w_f32 = false, out_f32 = false, w_transposed = false;
};

std::string Type(bool f32) { return f32 ? "f32[" : "bf16["; }

// Planes, batch in rows, features in lanes.
std::string Hlo(const Conv& c) {
  std::string in, w, out, size, stride, pad, base, window, reversal, labels;
  for (size_t d = 0; d < c.dims.size(); ++d) {
    const Dim& x = c.dims[d];
    absl::StrAppend(&in, x.in, ",");
    absl::StrAppend(&w, x.taps, ",");
    absl::StrAppend(&out, x.Out(), ",");
    const char* by = d == 0 ? "" : "x";
    absl::StrAppend(&size, by, x.taps);
    absl::StrAppend(&stride, by, x.stride);
    absl::StrAppend(&pad, by, x.low, "_", x.high);
    absl::StrAppend(&base, by, x.base_dilation);
    absl::StrAppend(&window, by, x.window_dilation);
    absl::StrAppend(&reversal, by, x.reversal ? 1 : 0);
    absl::StrAppend(&labels, d);
  }
  return absl::StrCat(
      "HloModule m\nENTRY e {\n  x = ", Type(c.in_f32), in, c.batch, ",", c.k,
      "] parameter(0)\n  w = ", Type(c.w_f32), w,
      c.w_transposed ? absl::StrCat(c.n, ",", c.k)
                     : absl::StrCat(c.k, ",", c.n),
      "] parameter(1)\n  ROOT c = ", Type(c.out_f32), out, c.batch, ",", c.n,
      "] convolution(x, w), window={size=", size, " stride=", stride,
      " pad=", pad, " lhs_dilate=", base, " rhs_dilate=", window,
      " rhs_reversal=", reversal, "}, dim_labels=", labels, "bf_", labels,
      c.w_transposed ? "oi->" : "io->", labels, "bf\n}\n");
}

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
      Dim x;
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

// Windows that move over the grid, with borders of zeros.
TEST_P(ConvolutionKernelTest, ACutImageHasItsBorders) {
  for (const int64_t stride : {1, 2}) {
    for (const int64_t base : {3 - stride}) {
      Conv c;
      c.batch = 16;
      c.k = 64;
      c.n = 128;
      Dim x;
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

// An input that lies in VMEM is read there by every step: those at its ends do
// not multiply what lies beyond the borders.
TEST_P(ConvolutionKernelTest, ACutImageInVmemIsReadInPlace) {
  for (const int64_t low : {0, 1, 2, 3}) {
    Conv c;
    c.batch = 24;
    c.k = low == 1 || low == 3 ? 64 : 130;  // taps of few are packed
    c.n = 128;
    Dim x;
    x.in = low == 1 ? 21 : 18;
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
        Case{16, 128, 5, 3, 9, 20, 5}, Case{33, 40, 3, 1, 1, 14, 3},
        Case{8, 16, 4, 1, 8, 24, 1}}) {
    for (const bool transposed : {false, true}) {
      for (const bool f32 : {false, true}) {
        Conv c;
        c.batch = x.batch;
        c.k = x.k;
        c.n = x.n;
        c.w_transposed = transposed;
        c.in_f32 = c.out_f32 = f32;
        c.w_f32 = f32 != transposed;
        Dim d;
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
  Dim x;
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

// Gradients of weights contract the batch where it lies.
TEST_P(ConvolutionKernelTest, RandomGradientsEqualTheEvaluator) {
  std::mt19937 random(5);
  const auto pick = [&](std::vector<int64_t> of) {
    return of[random() % of.size()];
  };
  int done = 0;
  for (int n = 0; done < 5; ++n) {
    const int rank = static_cast<int>(1 + random() % 2);
    std::string in, w, out, size, stride, pad, base, window, labels;
    bool exists = true;
    int64_t taps = 1, results = 1;
    for (int d = 0; d < rank; ++d) {
      Dim x;
      x.in = pick({5, 8, 14});
      x.taps = pick({3, 5, 7, 12});
      x.stride = pick({1, 1, 2});
      x.low = pick({0, 1, 3});
      x.high = pick({0, 1, 2, 3});
      x.base_dilation = pick({1, 1, 2});
      x.window_dilation = pick({1, 2});
      exists &= x.Exists();
      taps *= x.taps;
      results *= exists ? x.Out() : 0;
      const char* by = d == 0 ? "" : "x";
      absl::StrAppend(&in, x.in, ",");
      absl::StrAppend(&w, x.taps, ",");
      absl::StrAppend(&out, exists ? x.Out() : 0, ",");
      absl::StrAppend(&size, by, x.taps);
      absl::StrAppend(&stride, by, x.stride);
      absl::StrAppend(&pad, by, x.low, "_", x.high);
      absl::StrAppend(&base, by, x.base_dilation);
      absl::StrAppend(&window, by, x.window_dilation);
      absl::StrAppend(&labels, d);
    }
    if (!exists || taps <= results) continue;
    ++done;
    const int64_t batch = pick({8, 16, 24, 40});
    const int64_t k = pick({3, 64, 130}), c = pick({8, 128, 150});
    const std::string hlo = absl::StrCat(
        "HloModule m\nENTRY e {\n  x = ", Type(random() % 2 == 0), in, batch,
        ",", k, "] parameter(0)\n  w = ", Type(random() % 2 == 0), w, batch,
        ",", c, "] parameter(1)\n  ROOT c = ", Type(random() % 2 == 0), out, c,
        ",", k, "] convolution(x, w), window={size=", size, " stride=", stride,
        " pad=", pad, " lhs_dilate=", base, " rhs_dilate=", window,
        "}, dim_labels=", labels, "fb_", labels, "io->", labels, "fb\n}\n");
    HarnessOptions options = On(GetParam());
    options.seed = n;
    options.absolute = 0.2;
    EXPECT_OK(CompareKernel(hlo, options).status()) << GetParam() << hlo;
  }
}

// One that takes several steps, with borders, in f32 as torch_xla has it.
TEST(ConvolutionKernelTest, AGradientWalksOverItsTaps) {
  HarnessOptions options = On("v5e");
  options.absolute = 0.4;
  const auto result = CompareKernel(R"(
HloModule m
ENTRY e {
  x = f32[28,28,32,64] parameter(0)
  w = f32[28,28,32,128] parameter(1)
  ROOT c = f32[3,3,128,64] convolution(x, w), window={size=28x28 pad=1_1x1_1}, dim_labels=01fb_01io->01fb
})",
                                    options);
  EXPECT_OK(result.status());
  EXPECT_TRUE(!result.ok() || result->kernel.NumSteps() > 1);
}

// Several results of few features share a tile of columns.
TEST_P(ConvolutionKernelTest, AGradientOfFewFeaturesSharesItsTiles) {
  struct Case {
    const char* x;
    const char* w;
    const char* out;
    const char* window;
  };
  for (const Case& c :
       {Case{"6,6,16,64", "6,6,16,24", "3,3,24,64", "size=6x6 pad=1_1x1_1"},
        Case{"9,9,8,3", "4,4,8,40", "3,3,40,3",
             "size=4x4 pad=1_1x1_1 rhs_dilate=2x2"},
        Case{"21,21,16,3", "11,11,16,64", "7,7,64,3",
             "size=11x11 pad=3_3x3_3 rhs_dilate=2x2"},
        Case{"5,10,24,33", "5,5,24,130", "3,3,130,33",
             "size=5x5 pad=1_1x0_1 rhs_dilate=1x2"}}) {
    for (const bool f32 : {false, true}) {
      const std::string hlo =
          absl::StrCat("HloModule m\nENTRY e {\n  x = ", Type(f32), c.x,
                       "] parameter(0)\n  w = ", Type(!f32), c.w,
                       "] parameter(1)\n  ROOT c = ", Type(f32), c.out,
                       "] convolution(x, w), window={", c.window,
                       "}, dim_labels=01fb_01io->01fb\n}\n");
      HarnessOptions options = On(GetParam());
      options.absolute = 0.2;
      EXPECT_OK(CompareKernel(hlo, options).status()) << GetParam() << hlo;
    }
  }
}

TEST(ConvolutionKernelTest, NineResultsOf64FeaturesAreFiveTiles) {
  HarnessOptions options = On("v6e");
  options.absolute = 0.2;
  ASSERT_OK_AND_ASSIGN(const auto result, CompareKernel(R"(
HloModule m
ENTRY e {
  x = bf16[14,14,16,64] parameter(0)
  w = bf16[14,14,16,64] parameter(1)
  ROOT c = bf16[3,3,64,64] convolution(x, w), window={size=14x14 pad=1_1x1_1}, dim_labels=01fb_01io->01fb
})",
                                                        options));
  EXPECT_THAT(result.kernel.note, ::testing::HasSubstr("results in 5 tiles"));
}

// In VMEM what a step takes of the gradient of the result is transposed where
// it lies: in one run.
TEST(ConvolutionKernelTest, AGradientOfAnArrayInVmemIsNotCutWithinItsRows) {
  for (const char* chip : {"v6e", "v5e", "tpu7x"}) {
    HarnessOptions options = On(chip);
    options.absolute = 0.4;
    options.in_vmem = {1};
    EXPECT_OK(CompareKernel(R"(
HloModule m
ENTRY e {
  x = bf16[19,19,24,64] parameter(0)
  w = bf16[16,16,24,64] parameter(1)
  ROOT c = bf16[4,4,64,64] convolution(x, w), window={size=16x16}, dim_labels=01fb_01io->01fb
})",
                            options)
                  .status())
        << chip;
  }
}

// Where one tap of the first axis with all that it meets is too much for VMEM.
TEST(ConvolutionKernelTest, AGradientOfLargePlanesTakesThemInParts) {
  ASSERT_OK_AND_ASSIGN(const chips::ChipSpec loaded,
                       chips::ChipSpec::Load("v5e"));
  // With less and less VMEM, until it is taken in such parts.
  const auto check = [&](const char* what, const char* hlo) {
    for (double mebibytes = 4; mebibytes > 0; mebibytes -= 0.25) {
      ASSERT_OK_AND_ASSIGN(
          const chips::ChipSpec spec,
          loaded.WithValue("vmem.scoped_limit", mebibytes * (1 << 20)));
      HarnessOptions options = On("v5e");
      options.spec = &spec;
      options.absolute = 0.4;
      ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel, KernelOf(hlo, options));
      if (!absl::StrContains(kernel.note, what)) continue;
      EXPECT_OK(CompareKernel(hlo, options).status());
      return;
    }
  };
  check("inner taps", R"(
HloModule m
ENTRY e {
  x = f32[6,6,32,96] parameter(0)
  w = bf16[6,6,32,128] parameter(1)
  ROOT c = f32[3,3,128,96] convolution(x, w), window={size=6x6 pad=1_1x1_1}, dim_labels=01fb_01io->01fb
})");
  check("inner taps", R"(
HloModule m
ENTRY e {
  x = bf16[12,12,32,96] parameter(0)
  w = f32[6,6,32,128] parameter(1)
  ROOT c = f32[3,3,128,96] convolution(x, w), window={size=6x6 pad=1_0x1_0 rhs_dilate=2x2}, dim_labels=01fb_01io->01fb
})");
  // Parts that do not divide the rows of the batch.
  check("inner taps", R"(
HloModule m
ENTRY e {
  x = f32[31,31,8,96] parameter(0)
  w = bf16[31,31,8,128] parameter(1)
  ROOT c = f32[3,3,128,96] convolution(x, w), window={size=31x31 pad=1_1x1_1}, dim_labels=01fb_01io->01fb
})");
  check("rows", R"(
HloModule m
ENTRY e {
  x = f32[4,256,96] parameter(0)
  w = f32[4,256,128] parameter(1)
  ROOT c = f32[3,128,96] convolution(x, w), window={size=4 pad=1_1}, dim_labels=0fb_0io->0fb
})");
}

INSTANTIATE_TEST_SUITE_P(Chips, ConvolutionKernelTest,
                         ::testing::Values("v2", "v3", "v4", "v5e", "v5p",
                                           "v6e", "tpu7x"));

// What batch norm, a residual and an activation leave behind a convolution.
TEST(ConvolutionKernelTest, AnEpilogueIsFused) {
  for (const char* chip : {"v2", "v4", "v5e", "v6e", "tpu7x"}) {
    for (const char* out : {"f32", "bf16"}) {
      const std::string hlo = absl::StrCat(
          R"(
HloModule m
fused {
  x = bf16[9,10,12,64] parameter(0)
  w = f32[3,3,64,200] parameter(1)
  wb = bf16[3,3,64,200] convert(w)
  bias = f32[200] parameter(2)
  skip = bf16[9,10,12,200] parameter(3)
  c = f32[9,10,12,200] convolution(x, wb), window={size=3x3 pad=1_1x1_1}, dim_labels=01bf_01io->01bf
  rows = f32[9,10,12,200] broadcast(bias), dimensions={3}
  z = f32[9,10,12,200] multiply(c, rows)
  s = f32[9,10,12,200] convert(skip)
  y = f32[9,10,12,200] add(z, s)
  zero = f32[] constant(0)
  zeros = f32[9,10,12,200] broadcast(zero), dimensions={}
  r = f32[9,10,12,200] maximum(y, zeros)
  ROOT t = )",
          out, R"([9,10,12,200] convert(r)
}
ENTRY e {
  x = bf16[9,10,12,64] parameter(0)
  w = f32[3,3,64,200] parameter(1)
  bias = f32[200] parameter(2)
  skip = bf16[9,10,12,200] parameter(3)
  ROOT f = )",
          out,
          R"([9,10,12,200] fusion(x, w, bias, skip), kind=kOutput, calls=fused
})");
      EXPECT_OK(CompareKernel(hlo, On(chip)).status()) << chip;
    }
  }
}

// Its planes are rows of the product, one tile high each, however few rows
// they have.
TEST(ConvolutionKernelTest, AResidualInVmemIsReadFromEveryPlane) {
  for (const char* chip : {"v2", "v4", "v5e", "v6e"}) {
    for (const auto& [type, rows] :
         {std::pair{"f32", 8}, {"bf16", 8}, {"f32", 3}}) {
      const std::string hlo = absl::Substitute(R"(
HloModule m
fused {
  x = bf16[6,7,$1,64] parameter(0)
  w = bf16[3,3,64,128] parameter(1)
  skip = $0[6,7,$1,128] parameter(2)
  c = f32[6,7,$1,128] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=01bf_01io->01bf
  s = f32[6,7,$1,128] convert(skip)
  y = f32[6,7,$1,128] add(c, s)
  ROOT t = $0[6,7,$1,128] convert(y)
}
ENTRY e {
  x = bf16[6,7,$1,64] parameter(0)
  w = bf16[3,3,64,128] parameter(1)
  skip = $0[6,7,$1,128] parameter(2)
  ROOT f = $0[6,7,$1,128] fusion(x, w, skip), kind=kOutput, calls=fused
})",
                                               type, rows);
      for (const std::vector<int>& in_vmem :
           {std::vector<int>{}, {2}, {3}, {2, 3}}) {
        HarnessOptions options = On(chip);
        options.in_vmem = in_vmem;
        EXPECT_OK(CompareKernel(hlo, options).status())
            << chip << type << rows << " rows, " << absl::StrJoin(in_vmem, ",");
      }
    }
  }
}

TEST(ConvolutionKernelTest, ArraysInVmemAreWalkedInPlace) {
  const std::string hlo = R"(
HloModule m
ENTRY e {
  x = bf16[6,7,3,64] parameter(0)
  w = bf16[3,3,64,130] parameter(1)
  ROOT c = bf16[6,7,3,130] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=01bf_01io->01bf
})";
  for (const char* chip : {"v5e", "v6e"}) {
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
