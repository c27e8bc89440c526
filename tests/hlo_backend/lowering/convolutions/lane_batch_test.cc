// A forward pass whose batch lies in the lanes (the TPU compiler's layout of
// activations of 64 features and fewer): the kernel of a gradient, which makes
// some planes of its result in a step where all of them do not fit.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "chips/chip_spec.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/hlo_backend/lowering/convolutions/convolution_text.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

constexpr double kMebibyte = 1 << 20;

struct Image {
  const char *in, *out, *window;
};

std::string Text(const char* type, const Image& i) {
  return absl::StrCat("HloModule m\nENTRY e {\n  x = ", type, i.in,
                      " parameter(0)\n  w = ", type,
                      "[3,3,16,24] parameter(1)\n  ROOT c = ", type, i.out,
                      " convolution(x, w), window={size=3x3 ", i.window,
                      "}, dim_labels=01fb_01io->01fb\n}\n");
}

class LaneBatchTest : public ::testing::TestWithParam<const char*> {
 protected:
  static bool IsBox(const isa::Kernel& kernel) {
    const size_t at = kernel.note.find(", planes ");
    return at != std::string::npos &&
           kernel.note.find('x', at) < kernel.note.find(',', at + 1);
  }

  // With less and less VMEM, until planes of the first axis are cut, or `box`es
  // of the first two.
  static void Check(const std::string& hlo, const std::vector<int>& in_vmem,
                    bool box = false) {
    ASSERT_OK_AND_ASSIGN(const chips::ChipSpec loaded,
                         chips::ChipSpec::Load(GetParam()));
    for (double mebibytes = 4; mebibytes > 0; mebibytes -= 0.0625) {
      ASSERT_OK_AND_ASSIGN(
          const chips::ChipSpec spec,
          loaded.WithValue("vmem.scoped_limit", mebibytes * kMebibyte));
      HarnessOptions options = On(GetParam());
      options.spec = &spec;
      options.absolute = 0.2;
      for (const int o : in_vmem) options.in_vmem.push_back(o);
      ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel, KernelOf(hlo, options));
      if (!absl::StrContains(kernel.note, ", planes ")) continue;
      if (box && !IsBox(kernel)) continue;
      EXPECT_OK(CompareKernel(hlo, options).status()) << hlo << kernel.note;
      return;
    }
    ADD_FAILURE() << GetParam() << ": planes were never cut: " << hlo;
  }
};

TEST_P(LaneBatchTest, PlanesOfTheResultAreCut) {
  const Image images[] = {
      {"[12,9,16,200]", "[12,9,24,200]", "pad=1_1x1_1"},
      {"[13,9,16,200]", "[6,4,24,200]", "stride=2x2"},
      {"[8,9,16,200]", "[14,9,24,200]", "pad=1_0x1_1 lhs_dilate=2x1"},
      {"[14,12,16,200]", "[10,8,24,200]", "rhs_dilate=2x2"}};
  for (const Image& image : images) {
    Check(Text("bf16", image), {});
    Check(Text("f32", image), {});
  }
}

TEST_P(LaneBatchTest, BoxesOfTheResultAreCut) {
  const Image images[] = {
      {"[9,11,16,200]", "[9,11,24,200]", "pad=1_1x1_1"},
      {"[13,15,16,200]", "[6,7,24,200]", "stride=2x2"},
      {"[6,8,16,200]", "[10,14,24,200]", "pad=1_0x1_0 lhs_dilate=2x2"},
      {"[11,12,16,200]", "[7,8,24,200]", "rhs_dilate=2x2 rhs_reversal=1x1"}};
  for (const Image& image : images) {
    Check(Text("bf16", image), {}, true);
    Check(Text("f32", image), {}, true);
  }
}

TEST_P(LaneBatchTest, BoxesHaveWholePlanesOfTheThirdAxis) {
  Check(R"(
HloModule m
ENTRY e {
  x = bf16[5,7,4,16,200] parameter(0)
  w = bf16[3,3,3,16,24] parameter(1)
  ROOT c = bf16[5,7,4,24,200] convolution(x, w), window={size=3x3x3 pad=1_1x1_1x1_1}, dim_labels=012fb_012io->012fb
})",
        {}, true);
}

// What is added to a box is a box of its array.
TEST_P(LaneBatchTest, BoxesMeetThoseOfTheEpilogue) {
  Check(R"(
HloModule m
f {
  x = bf16[9,11,16,200] parameter(0)
  w = bf16[3,3,16,24] parameter(1)
  y = bf16[9,11,24,200] parameter(2)
  c = bf16[9,11,24,200] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=01fb_01io->01fb
  ROOT s = bf16[9,11,24,200] add(c, y)
}
ENTRY e {
  x = bf16[9,11,16,200] parameter(0)
  w = bf16[3,3,16,24] parameter(1)
  y = bf16[9,11,24,200] parameter(2)
  ROOT s = bf16[9,11,24,200] fusion(x, w, y), kind=kOutput, calls=f
})",
        {}, true);
}

// A bias of features is a value of each row, on all lanes.
std::string Biased(const char* sums, const char* result, int features) {
  const std::string all = absl::StrCat("[9,11,", features, ",200]");
  const std::string w = absl::StrCat("bf16[3,3,16,", features, "]");
  const std::string b = absl::StrCat(sums, "[", features, "]");
  const std::string s = absl::StrCat(sums, all), r = absl::StrCat(result, all);
  return absl::StrCat(
      "HloModule m\nf {\n  x = bf16[9,11,16,200] parameter(0)\n  w = ", w,
      " parameter(1)\n  b = ", b, " parameter(2)\n  c = ", s,
      " convolution(x, w), window={size=3x3 pad=1_1x1_1}, "
      "dim_labels=01fb_01io->01fb\n  bb = ",
      s, " broadcast(b), dimensions={2}\n  a = ", s,
      " add(c, bb)\n  z = ", sums, "[] constant(0)\n  zz = ", s,
      " broadcast(z), dimensions={}\n  m = ", s,
      " maximum(a, zz)\n  ROOT r = ", r,
      " convert(m)\n}\nENTRY e {\n  x = bf16[9,11,16,200] parameter(0)\n  w = ",
      w, " parameter(1)\n  b = ", b, " parameter(2)\n  ROOT r = ", r,
      " fusion(x, w, b), kind=kOutput, calls=f\n}\n");
}

TEST_P(LaneBatchTest, ABiasOfFeaturesIsAValuePerRow) {
  for (const int features : {1, 7, 24, 64, 129, 300}) {
    HarnessOptions options = On(GetParam());
    options.absolute = 0.2;
    for (const char* result : {"f32", "bf16"}) {
      const std::string hlo = Biased("f32", result, features);
      EXPECT_OK(CompareKernel(hlo, options).status()) << hlo;
    }
  }
}

// Two lines of bf16 values lie in one.
TEST_P(LaneBatchTest, SoItIsOfBf16) {
  for (const int features : {7, 129, 1100}) {
    HarnessOptions options = On(GetParam());
    options.absolute = 0.2;
    const std::string hlo = Biased("bf16", "bf16", features);
    EXPECT_OK(CompareKernel(hlo, options).status()) << hlo;
    options.in_vmem = {2};
    EXPECT_OK(CompareKernel(hlo, options).status()) << hlo;
  }
}

TEST_P(LaneBatchTest, SoItIsWhereBoxesAreCut) {
  Check(Biased("f32", "f32", 24), {}, true);
  Check(Biased("f32", "bf16", 24), {}, true);
}

TEST_P(LaneBatchTest, AndWhereAllLiesInVmem) {
  HarnessOptions options = On(GetParam());
  options.absolute = 0.2;
  options.in_vmem = {0, 1, 2, 3};
  for (const int features : {7, 24}) {
    const std::string hlo = Biased("f32", "f32", features);
    EXPECT_OK(CompareKernel(hlo, options).status()) << hlo;
  }
}

// Its ends have no borders there.
TEST_P(LaneBatchTest, SoAreThoseOfAnInputInVmem) {
  const Image image = {"[16,9,16,200]", "[16,9,24,200]", "pad=1_1x1_1"};
  Check(Text("bf16", image), {0});
  Check(Text("f32", image), {0});
}

// The gradient of the weights contracts lanes; the other array's features are
// columns, of which the slot holds no more than there are.
TEST_P(LaneBatchTest, AGradientsSlotHasNoColumnsThatDoNotExist) {
  HarnessOptions options = On(GetParam());
  options.absolute = 0.5;
  ASSERT_OK_AND_ASSIGN(const HarnessResult result, CompareKernel(R"(
HloModule m
ENTRY e {
  x = bf16[9,9,16,200] parameter(0)
  dy = bf16[9,9,24,200] parameter(1)
  ROOT c = f32[3,3,16,24] convolution(x, dy), window={size=9x9 pad=1_1x1_1}, dim_labels=01bf_01oi->01bf
})",
                                                                 options));
  const isa::Window& window = result.kernel.windows[1];
  EXPECT_EQ(window.dims[2].block, 3) << "tiles of 8 rows";
}

// The fastest steps hold more registers than v4 has 32 of.
TEST(LaneBatchStepsTest, ASlowerStepIsTakenWhereRegistersAreFew) {
  const std::string hlo = R"(HloModule m
ENTRY e {
  x = f32[16,16,64,128] parameter(0)
  w = f32[3,3,64,16] parameter(1)
  ROOT c = f32[16,16,16,128] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=01fb_01io->01fb
})";
  EXPECT_OK(CompareKernel(hlo, On("v4")).status());
}

INSTANTIATE_TEST_SUITE_P(Chips, LaneBatchTest,
                         ::testing::Values("v2", "v4", "v5e", "v6e", "tpu7x"));

}  // namespace
}  // namespace ptxla::lowering
