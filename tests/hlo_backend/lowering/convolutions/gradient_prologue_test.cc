// What is computed in front of the kernel of a gradient of weights: against the
// evaluator.
#include <string>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/hlo_backend/lowering/convolutions/convolution_text.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

struct Case {
  const char* planes;  // of both arrays, with the batch
  const char* window;
  const char* out;
  int in, features;
};

// The gradient of a normalisation behind an activation, as a step of training
// has it: of the kernel, or of the input where its features are in rows.
std::string PrologueText(const Case& c, bool mirrored, const char* leaf) {
  return absl::Substitute(
      R"(
HloModule m
fused {
  g = f32[$0,$1] parameter(0)
  x = $6[$0,$1] parameter(1)
  mean = f32[$1] parameter(2)
  var = f32[$1] parameter(3)
  other = bf16[$0,$2] parameter(4)
  xf = f32[$0,$1] convert(x)
  m = f32[$0,$1] broadcast(mean), dimensions={3}
  d = f32[$0,$1] subtract(xf, m)
  v = f32[$0,$1] broadcast(var), dimensions={3}
  q = f32[$0,$1] divide(d, v)
  zero = f32[] constant(0)
  zeros = f32[$0,$1] broadcast(zero), dimensions={}
  p = pred[$0,$1] compare(q, zeros), direction=GT
  s = f32[$0,$1] select(p, g, q)
  ROOT c = f32[$3] convolution($5), window={$4}, dim_labels=01fb_01io->$7
}
ENTRY e {
  g = f32[$0,$1] parameter(0)
  x = $6[$0,$1] parameter(1)
  mean = f32[$1] parameter(2)
  var = f32[$1] parameter(3)
  other = bf16[$0,$2] parameter(4)
  ROOT f = f32[$3] fusion(g, x, mean, var, other), kind=kOutput, calls=fused
})",
      c.planes, c.features, c.in, c.out, c.window,
      mirrored ? "s, other" : "other, s", leaf, mirrored ? "01bf" : "01fb");
}

class GradientPrologueTest : public ::testing::TestWithParam<const char*> {};

TEST_P(GradientPrologueTest, TheKernelIsComputedOnItsWayToTheXlu) {
  for (const Case& c :
       {Case{"7,7,8", "size=7x7 pad=1_1x1_1", "3,3,200,130", 130, 200},
        Case{"5,9,24", "size=5x9 pad=1_1x1_1", "3,3,64,7", 7, 64},
        Case{"32,30,8", "size=32x30 pad=1_1x1_1", "3,3,40,64", 64, 40}}) {
    for (const char* leaf : {"f32", "bf16"}) {
      HarnessOptions options = On(GetParam());
      options.low = 0.25;  // no division by almost nothing
      options.absolute = 0.5;
      const std::string hlo = PrologueText(c, false, leaf);
      EXPECT_OK(CompareKernel(hlo, options).status()) << GetParam() << hlo;
    }
  }
}

TEST_P(GradientPrologueTest, SoIsAnInputWhoseFeaturesAreInRows) {
  for (const Case& c :
       {Case{"7,7,8", "size=7x7 pad=1_1x1_1", "3,3,200,130", 130, 200},
        Case{"15,6,16", "size=15x6 pad=1_1x1_1", "3,3,64,64", 64, 64}}) {
    HarnessOptions options = On(GetParam());
    options.low = 0.25;
    options.absolute = 0.5;
    const std::string hlo = PrologueText(c, true, "f32");
    EXPECT_OK(CompareKernel(hlo, options).status()) << GetParam() << hlo;
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, GradientPrologueTest,
                         ::testing::Values("v2", "v3", "v4", "v5e", "v6e",
                                           "tpu7x"));

}  // namespace
}  // namespace ptxla::lowering
