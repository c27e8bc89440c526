// Do kernels of gradients of weights compute what HLO says? Bundles against the
// evaluator, on random windows, shapes, types and chips.
#include <random>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "isa/from_chip_spec.h"
#include "isa/timing.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/hlo_backend/lowering/convolutions/convolution_text.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

class ConvolutionGradientTest : public ::testing::TestWithParam<const char*> {};

// Gradients of weights contract the batch where it lies.
TEST_P(ConvolutionGradientTest, RandomGradientsEqualTheEvaluator) {
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
      ConvolutionDim x;
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

// Memory behind the last row of a plane holds anything: NaN here.
TEST_P(ConvolutionGradientTest, ABatchOfPartOfATileMeetsNothingBehindIt) {
  struct Case {
    const char* x;
    const char* w;
    const char* out;
    const char* window;
    const char* result;
  };
  for (const Case& c :
       {Case{"7,7,9,130", "7,7,9,40", "3,3,40,130", "size=7x7 pad=1_1x1_1",
             "01fb"},
        // Rows of K that are transposed in a loop.
        Case{"16,16,21,64", "16,16,21,130", "3,3,130,64",
             "size=16x16 pad=1_1x1_1", "01fb"},
        // Results that share tiles; operands that change places.
        Case{"9,9,12,3", "4,4,12,40", "3,3,40,3",
             "size=4x4 pad=1_1x1_1 rhs_dilate=2x2", "01fb"},
        Case{"7,7,15,128", "7,7,15,256", "3,3,128,256", "size=7x7 pad=1_1x1_1",
             "01bf"},
        // Parts of the batch.
        Case{"1,1,1001,520", "1,1,1001,130", "1,1,130,520", "size=1x1",
             "01fb"}}) {
    for (const bool f32 : {false, true}) {
      const std::string hlo =
          absl::StrCat("HloModule m\nENTRY e {\n  x = ", Type(f32), c.x,
                       "] parameter(0)\n  w = ", Type(!f32), c.w,
                       "] parameter(1)\n  ROOT c = ", Type(f32), c.out,
                       "] convolution(x, w), window={", c.window,
                       "}, dim_labels=01fb_01io->", c.result, "\n}\n");
      HarnessOptions options = On(GetParam());
      options.absolute = 0.3;
      EXPECT_OK(CompareKernel(hlo, options).status()) << GetParam() << hlo;
    }
  }
}

// Features of the input in the rows of the result: the operands change places.
TEST_P(ConvolutionGradientTest, AResultWithInputsInRowsNeedsNoTranspose) {
  struct Case {
    const char* x;
    const char* w;
    const char* out;
    const char* window;
    const char* spatial;
  };
  for (const Case& c :
       {Case{"7,7,8,128", "7,7,8,256", "3,3,128,256", "size=7x7 pad=1_1x1_1",
             "01"},
        Case{"9,6,24,130", "8,6,24,7", "4,1,130,7", "size=8x6 pad=2_0x0_0",
             "01"},
        Case{"12,16,64", "10,16,40", "5,64,40", "size=10 pad=0_2", "0"},
        Case{"6,6,16,3", "6,6,16,64", "3,3,3,64", "size=6x6 pad=1_1x1_1",
             "01"}}) {
    for (const bool f32 : {false, true}) {
      const std::string hlo =
          absl::StrCat("HloModule m\nENTRY e {\n  x = ", Type(f32), c.x,
                       "] parameter(0)\n  w = ", Type(!f32), c.w,
                       "] parameter(1)\n  ROOT c = ", Type(f32), c.out,
                       "] convolution(x, w), window={", c.window,
                       "}, dim_labels=", c.spatial, "fb_", c.spatial, "io->",
                       c.spatial, "bf\n}\n");
      HarnessOptions options = On(GetParam());
      options.absolute = 0.2;
      EXPECT_OK(CompareKernel(hlo, options).status()) << GetParam() << hlo;
    }
  }
}

// One that takes several steps, with borders, in f32 as torch_xla has it.
TEST(ConvolutionGradientTest, AGradientWalksOverItsTaps) {
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
TEST_P(ConvolutionGradientTest, AGradientOfFewFeaturesSharesItsTiles) {
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

TEST(ConvolutionGradientTest, NineResultsOf64FeaturesAreFiveTiles) {
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

// What shares a tile is taken apart without a wait for the XLUs at every few
// results: half the features are no slower.
TEST(ConvolutionGradientTest, FewFeaturesAreNotSlowerThanMore) {
  const auto cycles = [](const char* chip, int features) -> int64_t {
    const auto kernel = KernelOf(absl::Substitute(R"(
HloModule m
ENTRY e {
  x = bf16[14,14,8,$0] parameter(0)
  w = bf16[14,14,8,512] parameter(1)
  ROOT c = bf16[5,5,512,$0] convolution(x, w), window={size=14x14 pad=2_2x2_2}, dim_labels=01fb_01io->01fb
})",
                                                  features),
                                 On(chip));
    EXPECT_OK(kernel.status());
    if (!kernel.ok()) return 0;
    const isa::MachineModel machine =
        isa::FromChipSpec(*chips::ChipSpec::Load(chip));
    return isa::TimeKernel(*kernel, machine).UnstalledCycles(*kernel);
  };
  for (const char* chip : {"v5e", "v6e"}) {
    EXPECT_LE(cycles(chip, 64), cycles(chip, 128)) << chip;
  }
}

// Its ends have no borders there: results that meet nothing in the first step
// start from zero, and those that meet nothing in the last are finished.
TEST(ConvolutionGradientTest, AnInputInVmemIsReadBeyondItsBordersByNoStep) {
  // As many planes as the chip does not take in one step.
  const std::pair<const char*, int64_t> images[] = {
      {"v3", 21}, {"v5e", 21}, {"v6e", 45}};
  for (const auto& [chip, planes] : images) {
    for (const char* type : {"f32", "bf16"}) {
      for (const int64_t features : {64, 136}) {
        HarnessOptions options = On(chip);
        options.absolute = 1;
        options.relative = 0.03;
        options.in_vmem = {0};
        const std::string t = type;
        const std::string hlo = absl::StrCat(
            "HloModule m\nENTRY e {\n  x = ", t, "[", planes, ",21,8,",
            features, "] parameter(0)\n  w = ", t, "[", planes,
            ",21,8,128] parameter(1)\n  ROOT c = f32[3,3,128,", features,
            "] convolution(x, w), window={size=", planes,
            "x21 pad=1_1x1_1}, "
            "dim_labels=01fb_01io->01fb\n}\n");
        const auto result = CompareKernel(hlo, options);
        EXPECT_OK(result.status()) << chip << hlo;
        EXPECT_TRUE(!result.ok() || result->kernel.NumSteps() > 1)
            << chip << result->kernel.note;
      }
    }
  }
}

// In VMEM what a step takes of the gradient of the result is transposed where
// it lies: in one run.
TEST(ConvolutionGradientTest, AGradientOfAnArrayInVmemIsNotCutWithinItsRows) {
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
TEST(ConvolutionGradientTest, AGradientOfLargePlanesTakesThemInParts) {
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

// A K tile of 128 features has 32 taps of 4: more registers are moved into it
// than v4 has.
TEST_P(ConvolutionGradientTest, ManyTapsShareATile) {
  EXPECT_OK(CompareKernel(R"(
HloModule m
ENTRY e {
  x = bf16[28,28,16,4] parameter(0)
  w = bf16[28,28,4,128] parameter(1)
  ROOT c = f32[3,3,16,128] convolution(x, w), window={size=28x28 pad=1_1x1_1}, dim_labels=01bf_01io->01bf
})",
                          On(GetParam()))
                .status());
}

INSTANTIATE_TEST_SUITE_P(Chips, ConvolutionGradientTest,
                         ::testing::Values("v2", "v3", "v4", "v5e", "v5p",
                                           "v6e", "tpu7x"));

}  // namespace
}  // namespace ptxla::lowering
