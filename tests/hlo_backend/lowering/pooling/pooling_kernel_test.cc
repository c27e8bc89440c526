// Do kernels of sliding windows compute what HLO says? Bundles against the
// evaluator, on random windows, shapes, types and chips.
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/hlo_backend/lowering/pooling/pool_text.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

class PoolingKernelTest : public ::testing::TestWithParam<const char*> {
 protected:
  HarnessOptions On(int seed) const {
    HarnessOptions options;
    options.chip = GetParam();
    options.seed = seed;
    return options;
  }
};

TEST_P(PoolingKernelTest, RandomWindowsEqualTheEvaluator) {
  std::mt19937 random(11);
  const auto pick = [&](std::vector<int64_t> of) {
    return of[random() % of.size()];
  };
  int done = 0;
  for (int n = 0; done < 12; ++n) {
    Pool p;
    const int kind = static_cast<int>(random() % 5);
    if (kind == 1) p.op = "minimum", p.init = "inf";
    if (kind >= 2) p.op = "add", p.init = "0";
    p.type = std::vector<std::string>{"f32", "bf16", "s32"}[random() % 3];
    if (p.type == "s32") p.op = "add", p.init = "0";
    const int rank = static_cast<int>(1 + random() % 3);
    bool exists = true;
    for (int d = 0; d < rank; ++d) {
      PoolDim x;
      x.in = pick({1, 2, 5, 9, 12});
      x.size = pick({1, 2, 3, 4});
      x.stride = pick({1, 1, 2, 3});
      x.low = pick({0, 0, 1, 2});
      x.high = pick({0, 1, 3});
      x.dilation = pick({1, 1, 2});
      x.base = pick({1, 1, 2, 3});
      exists &= x.Exists();
      p.dims.push_back(x);
    }
    PoolDim rows, lanes;
    rows.in = pick({1, 3, 8, 9, 24});
    lanes.in = pick({1, 64, 128, 200});
    p.dims.push_back(rows);
    p.dims.push_back(lanes);
    if (!exists) continue;
    ++done;
    HarnessOptions options = On(n);
    if (p.type == "bf16") options.absolute = 0.1;
    const std::string hlo = ReduceWindow(p);
    EXPECT_OK(CompareKernel(hlo, options).status()) << GetParam() << hlo;
  }
}

TEST_P(PoolingKernelTest, ACutImageHasItsBorders) {
  for (const char* type : {"f32", "bf16"}) {
    const Pool p = CutImage(type, 41, 512);
    const std::string hlo = ReduceWindow(p);
    const auto result = CompareKernel(hlo, On(3));
    EXPECT_OK(result.status()) << GetParam() << hlo;
    EXPECT_TRUE(!result.ok() || result->kernel.NumSteps() > 1);
  }
}

// The gradient of an average: gaps between the planes of a cut array.
TEST_P(PoolingKernelTest, AWindowMovesOverGaps) {
  for (const char* type : {"f32", "bf16"}) {
    Pool p;
    p.type = type;
    p.op = "add";
    p.init = "0";
    PoolDim x;
    x.in = 23;
    x.size = 3;
    x.base = 2;
    x.low = 2;
    x.high = 1;
    PoolDim rows, lanes;
    rows.in = 8;
    lanes.in = 512;
    p.dims = {x, x, rows, lanes};
    HarnessOptions options = On(3);
    if (p.type == "bf16") options.absolute = 0.1;
    const std::string hlo = ReduceWindow(p);
    const auto result = CompareKernel(hlo, options);
    EXPECT_OK(result.status()) << GetParam() << hlo;
    EXPECT_TRUE(!result.ok() || result->kernel.NumSteps() > 1);
  }
}

TEST_P(PoolingKernelTest, ArraysInVmemAreReadAndWrittenInPlace) {
  Pool p;
  PoolDim x;
  x.in = 14;
  x.size = 3;
  x.stride = 2;
  x.low = x.high = 1;
  PoolDim rows, lanes;
  rows.in = 16;
  lanes.in = 128;
  p.dims = {x, x, rows, lanes};
  HarnessOptions options = On(3);
  options.in_vmem = {0, 2};
  EXPECT_OK(CompareKernel(ReduceWindow(p), options).status());
  options.in_vmem = {0, 1, 3};
  EXPECT_OK(CompareKernel(SelectAndScatter(p), options).status());
}

TEST_P(PoolingKernelTest, CumulativeSumsCarryOnFromStepToStep) {
  for (const bool from_end : {false, true}) {
    for (const int64_t length : {9, 120}) {
      for (const char* type : {"f32", "bf16"}) {
        Pool p;
        p.type = type;
        p.op = length > 9 ? "maximum" : "add";
        p.init = length > 9 ? "-inf" : "0";
        PoolDim x;
        x.in = x.size = length;
        (from_end ? x.high : x.low) = length - 1;
        PoolDim lead, rows, lanes;
        lead.in = length > 9 ? 1 : 3;
        rows.in = length > 9 ? 8 : 5;
        lanes.in = length > 9 ? 1024 : 130;
        p.dims = {lead, x, rows, lanes};
        HarnessOptions options = On(5);
        if (p.type == "bf16") options.absolute = 0.2;
        const std::string hlo = ReduceWindow(p);
        EXPECT_OK(CompareKernel(hlo, options).status()) << GetParam() << hlo;
      }
    }
  }
}

TEST_P(PoolingKernelTest, RandomGradientsOfMaximaEqualTheEvaluator) {
  std::mt19937 random(13);
  const auto pick = [&](std::vector<int64_t> of) {
    return of[random() % of.size()];
  };
  int done = 0;
  for (int n = 0; done < 10; ++n) {
    Pool p;
    p.type = random() % 2 == 0 ? "f32" : "bf16";
    const int rank = static_cast<int>(1 + random() % 2);
    bool exists = true;
    for (int d = 0; d < rank; ++d) {
      PoolDim x;
      x.in = pick({1, 4, 9, 12});
      x.size = pick({1, 2, 3});
      x.stride = pick({1, 2, 3});
      x.low = std::min(pick({0, 0, 1}), x.size - 1);
      x.high = std::min(pick({0, 1}), x.size - 1);
      exists &= x.Exists();
      p.dims.push_back(x);
    }
    PoolDim rows, lanes;
    rows.in = pick({1, 3, 8, 24});
    lanes.in = pick({1, 64, 200});
    p.dims.push_back(rows);
    p.dims.push_back(lanes);
    if (!exists) continue;
    ++done;
    HarnessOptions options = On(n);
    if (p.type == "bf16") options.absolute = 0.1;
    const std::string hlo = SelectAndScatter(p);
    EXPECT_OK(CompareKernel(hlo, options).status()) << GetParam() << hlo;
  }
}

// The places of maxima, as torch_xla finds them: by a maximum of what was
// selected, where a sum would do.
TEST_P(PoolingKernelTest, MaximaOfWhatIsSelected) {
  for (const char* type : {"f32", "bf16"}) {
    Pool p = CutImage(type, 21, 128);
    const std::string hlo = SelectAndScatter(p, "maximum", "-inf");
    EXPECT_OK(CompareKernel(hlo, On(3)).status()) << GetParam() << hlo;
  }
}

TEST_P(PoolingKernelTest, AGradientOverACutImage) {
  const Pool p = CutImage("f32", 33, 384);
  const std::string hlo = SelectAndScatter(p);
  const auto result = CompareKernel(hlo, On(3));
  EXPECT_OK(result.status()) << GetParam() << hlo;
  EXPECT_TRUE(!result.ok() || result->kernel.NumSteps() > 1);
}

// A window of a masked image may see nothing but -inf: its first element is
// selected, never a border before it.
TEST_P(PoolingKernelTest, AGradientOverACutImageOfMinusInfinities) {
  HarnessOptions options = On(3);
  options.low = options.high = -3.4e38;  // beyond bf16
  const std::string hlo = SelectAndScatter(CutImage("bf16", 33, 384));
  const auto result = CompareKernel(hlo, options);
  EXPECT_OK(result.status()) << GetParam() << hlo;
  EXPECT_TRUE(!result.ok() || result->kernel.NumSteps() > 1);
}

// Nor where the last step but one meets the border behind the image, too.
TEST_P(PoolingKernelTest, AGradientInStepsShorterThanAWindow) {
  Pool p = CutImage("f32", 9, 512);
  PoolDim& x = p.dims[1];
  x.in = 40;
  x.size = 5;
  x.stride = 1;
  x.low = 1;
  x.high = 3;
  HarnessOptions options = On(3);
  options.low = options.high = -1e39;
  EXPECT_OK(CompareKernel(SelectAndScatter(p), options).status()) << GetParam();
}

// Its ends have no borders there.
TEST_P(PoolingKernelTest, AGradientOverACutImageInVmem) {
  for (const char* type : {"f32", "bf16"}) {
    const Pool p = CutImage(type, 33, 384);
    for (const std::vector<int>& in_vmem :
         {std::vector<int>{0}, std::vector<int>{1}, std::vector<int>{0, 1}}) {
      HarnessOptions options = On(3);
      if (p.type == "bf16") options.absolute = 0.1;
      options.in_vmem = in_vmem;
      const std::string hlo = SelectAndScatter(p);
      const auto result = CompareKernel(hlo, options);
      EXPECT_OK(result.status()) << GetParam() << hlo;
      EXPECT_TRUE(!result.ok() || result->kernel.NumSteps() > 1);
    }
  }
}

TEST_P(PoolingKernelTest, DepthwiseConvolutionsEqualTheEvaluator) {
  std::mt19937 random(17);
  const auto pick = [&](std::vector<int64_t> of) {
    return of[random() % of.size()];
  };
  int done = 0;
  for (int n = 0; done < 10; ++n) {
    Pool p;
    p.type = done % 2 == 0 ? "bf16" : "f32";
    const int rank = static_cast<int>(1 + random() % 2);
    bool exists = true;
    std::string taps, labels;
    for (int d = 0; d < rank; ++d) {
      PoolDim x;
      x.in = pick({3, 7, 12, 30});
      x.size = pick({1, 2, 3, 5});
      x.stride = pick({1, 1, 2});
      x.low = pick({0, 1, 2});
      x.high = pick({0, 1, 2});
      x.dilation = pick({1, 1, 2});
      exists &= x.Exists();
      p.dims.push_back(x);
      absl::StrAppend(&taps, x.size, ",");
      absl::StrAppend(&labels, d);
    }
    PoolDim rows, lanes;
    rows.in = pick({1, 8, 9, 16, 32});
    lanes.in = pick({16, 128, 200, 384, 640});
    p.dims.push_back(rows);
    p.dims.push_back(lanes);
    if (!exists) continue;
    ++done;
    Pool spatial = p;
    spatial.dims.resize(rank);
    const std::string hlo = absl::StrCat(
        "HloModule m\nENTRY e {\n  x = ", Dims(p, false),
        " parameter(0)\n  w = ", p.type, "[", taps, "1,", lanes.in,
        "] parameter(1)\n  ROOT r = ", Dims(p, true), " convolution(x, w), ",
        Window(spatial), ", dim_labels=", labels, "bf_", labels, "io->", labels,
        "bf, feature_group_count=", lanes.in,
        // At the default one the evaluator rounds as the arrays do.
        p.type == "f32" ? ", operand_precision={highest,highest}" : "",
        "\n}\n");
    HarnessOptions options = On(n);
    options.absolute = options.relative = 0.03;
    EXPECT_OK(CompareKernel(hlo, options).status()) << GetParam() << hlo;
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, PoolingKernelTest,
                         ::testing::Values("v3", "v5e", "v6e"));

}  // namespace
}  // namespace ptxla::lowering
