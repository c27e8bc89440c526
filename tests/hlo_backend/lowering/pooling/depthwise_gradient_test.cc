// Do kernels of gradients of depthwise weights compute what HLO says? Bundles
// against the evaluator, on windows, shapes, types and chips.
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// One axis of the forward pass.
struct Axis {
  int64_t in = 1, taps = 1, stride = 1, dilation = 1, low = 0, high = 0;
  int64_t Out() const {
    const int64_t span = (taps - 1) * dilation + 1;
    return in + low + high < span ? 0 : (in + low + high - span) / stride + 1;
  }
  // What the gradient has behind the input so that it makes `taps` planes.
  int64_t Behind() const {
    return (taps - 1) * dilation + (Out() - 1) * stride + 1 - in - low;
  }
};

struct Gradient {
  std::string type = "bf16", result = "bf16";
  std::vector<Axis> axes;
  int64_t batch = 8, features = 128;

  std::string Hlo() const {
    std::string x, dy, dw, labels, size, pad, stride, dilate;
    for (size_t a = 0; a < axes.size(); ++a) {
      const Axis& axis = axes[a];
      const char* by = a == 0 ? "" : "x";
      absl::StrAppend(&x, axis.in, ",");
      absl::StrAppend(&dy, axis.Out(), ",");
      absl::StrAppend(&dw, axis.taps, ",");
      absl::StrAppend(&labels, a);
      absl::StrAppend(&size, by, axis.Out());
      absl::StrAppend(&pad, by, axis.low, "_", axis.Behind());
      absl::StrAppend(&stride, by, axis.dilation);
      absl::StrAppend(&dilate, by, axis.stride);
    }
    return absl::StrCat(
        "HloModule m\nENTRY e {\n  x = ", type, "[", x, batch, ",", features,
        "] parameter(0)\n  dy = ", type, "[", dy, batch, ",", features,
        "] parameter(1)\n  ROOT dw = ", result, "[", dw, "1,", features,
        "] convolution(x, dy), window={size=", size, " stride=", stride,
        " pad=", pad, " rhs_dilate=", dilate, "}, dim_labels=", labels, "fb_",
        labels, "io->", labels, "bf, batch_group_count=", features,
        // At the default one the evaluator rounds as the arrays do.
        type == "f32" ? ", operand_precision={highest,highest}" : "", "\n}\n");
  }
};

class DepthwiseGradientTest : public ::testing::TestWithParam<const char*> {
 protected:
  void Compare(const Gradient& gradient, int seed) const {
    HarnessOptions options;
    options.chip = GetParam();
    options.seed = seed;
    options.absolute = options.relative = 0.03;
    EXPECT_OK(CompareKernel(gradient.Hlo(), options).status())
        << GetParam() << gradient.Hlo();
  }
};

TEST_P(DepthwiseGradientTest, RandomOnesEqualTheEvaluator) {
  std::mt19937 random(23);
  const auto pick = [&](std::vector<int64_t> of) {
    return of[random() % of.size()];
  };
  for (int done = 0, n = 0; done < 12; ++n) {
    Gradient g;
    g.type = done % 2 == 0 ? "bf16" : "f32";
    g.result = n % 3 == 0 ? "f32" : g.type;
    bool exists = true;
    for (int d = static_cast<int>(random() % 3); d >= 0; --d) {
      Axis a;
      a.in = pick({3, 7, 9, 13});
      a.taps = pick({1, 2, 3, 5});
      a.stride = pick({1, 1, 2});
      a.dilation = pick({1, 1, 2});
      a.low = pick({0, 1, 2});
      a.high = pick({0, 1});
      exists &= a.Out() > 0;
      g.axes.push_back(a);
    }
    g.batch = pick({8, 16, 24, 40});
    g.features = pick({2, 96, 128, 200, 384, 640});
    if (!exists) continue;
    ++done;
    Compare(g, n);
  }
}

// More taps than there are sums in registers at once.
TEST_P(DepthwiseGradientTest, OfWindowsOfSeven) {
  Gradient g;
  g.axes = {{9, 7, 1, 1, 3, 3}, {9, 7, 1, 1, 3, 3}};
  g.features = 256;
  Compare(g, 1);
}

// Steps add up what fits into VMEM, with borders in the first and last one.
TEST_P(DepthwiseGradientTest, OfImagesThatNoStepHolds) {
  Gradient g;
  g.type = "f32";
  g.axes = {{96, 3, 1, 1, 1, 1}, {64, 3, 1, 1, 1, 1}};
  g.batch = 16;
  Compare(g, 2);
}

INSTANTIATE_TEST_SUITE_P(Chips, DepthwiseGradientTest,
                         ::testing::Values("v3", "v5e", "v6e"));

}  // namespace
}  // namespace ptxla::lowering
