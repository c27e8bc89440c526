// Does a kernel that turns its input compute what HLO says? Convolutions of
// images whose batch lies outside, on random windows, types and chips.
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/hlo_backend/lowering/convolutions/convolution_text.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

struct Image {
  std::string type = "f32";
  int64_t batch = 16, high = 5, wide = 7, features = 64, results = 128;
  int64_t taps = 3, stride = 1, padding = 1;

  int64_t Out(int64_t in) const {
    return (in + 2 * padding - taps) / stride + 1;
  }
};

// [batch, high, wide, features], read as [high, wide, batch, features].
std::string TurnedText(const Image& i, const std::string& epilogue = "") {
  const std::string in = absl::StrCat(i.type, "[", i.batch, ",", i.high, ",",
                                      i.wide, ",", i.features, "]");
  const std::string turned = absl::StrCat(i.type, "[", i.high, ",", i.wide, ",",
                                          i.batch, ",", i.features, "]");
  const std::string weights = absl::StrCat(
      i.type, "[", i.taps, ",", i.taps, ",", i.features, ",", i.results, "]");
  const std::string out =
      absl::StrCat(i.type, "[", i.Out(i.high), ",", i.Out(i.wide), ",", i.batch,
                   ",", i.results, "]");
  return absl::Substitute(
      R"(
HloModule m
fused {
  x = $0 parameter(0)
  w = $2 parameter(1)
  t = $1 transpose(x), dimensions={1,2,0,3}
  $7c = $3 convolution(t, w), window={size=$4x$4 stride=$5x$5 pad=$6_$6x$6_$6}, dim_labels=01bf_01io->01bf
  $8
}
ENTRY e {
  x = $0 parameter(0)
  w = $2 parameter(1)
  ROOT f = $3 fusion(x, w), kind=kOutput, calls=fused
})",
      in, turned, weights, out, i.taps, i.stride, i.padding,
      epilogue.empty() ? "ROOT " : "",
      epilogue.empty() ? "" : absl::StrCat("ROOT r = ", out, " ", epilogue));
}

class TurnedInputTest : public ::testing::TestWithParam<const char*> {};

TEST_P(TurnedInputTest, RandomWindowsEqualTheEvaluator) {
  std::mt19937 random(11);
  const auto pick = [&](std::vector<int64_t> of) {
    return of[random() % of.size()];
  };
  for (int n = 0; n < 8; ++n) {
    Image i;
    const bool f32 = random() % 2 == 0;
    i.type = f32 ? "f32" : "bf16";
    i.batch = f32 ? pick({8, 16, 24, 40}) : pick({16, 32, 48});
    i.high = pick({3, 5, 9});
    i.wide = pick({3, 7, 8, 17});
    i.features = pick({8, 64, 128, 130});
    i.results = pick({1, 64, 128, 130});
    i.taps = pick({1, 2, 3});
    i.stride = pick({1, 1, 2});
    i.padding = pick({0, 1, 1, 2});
    EXPECT_OK(CompareKernel(TurnedText(i), On(GetParam())).status())
        << TurnedText(i) << GetParam();
  }
}

TEST_P(TurnedInputTest, ItsResultIsFinishedInTheKernel) {
  EXPECT_OK(
      CompareKernel(TurnedText(Image(), "tanh(c)"), On(GetParam())).status())
      << GetParam();
}

INSTANTIATE_TEST_SUITE_P(Chips, TurnedInputTest,
                         ::testing::Values("v2", "v3", "v4", "v5e", "v5p",
                                           "v6e", "tpu7x"));

// Steps that take part of the planes have their borders in scratch.
TEST(TurnedInputTest, PlanesOfSeveralSteps) {
  Image i;
  i.type = "bf16";
  i.batch = 32;
  i.high = 40;
  i.wide = 40;
  const std::string hlo = TurnedText(i);
  const auto kernel = KernelOf(hlo, On("v6e"));
  ASSERT_OK(kernel.status());
  int64_t steps = 1;
  for (const int64_t bound : kernel->grid) steps *= bound;
  EXPECT_GT(steps, 1);
  EXPECT_OK(CompareKernel(hlo, On("v6e")).status());
}

// A row of the input is read once for each step that meets it, and nothing
// else: the array is not written to HBM the other way.
TEST(TurnedInputTest, OnlyInputWeightsAndResultAreInMemory) {
  const auto kernel = KernelOf(TurnedText(Image()), On("v6e"));
  ASSERT_OK(kernel.status());
  EXPECT_EQ(kernel->args.size(), 3u);
}

// Its planes are strided rows of a window's slot: none is there.
TEST(TurnedInputTest, AnInputInVmemIsRefusedByName) {
  HarnessOptions options = On("v6e");
  options.in_vmem = {0};
  EXPECT_THAT(
      std::string(KernelOf(TurnedText(Image()), options).status().message()),
      ::testing::HasSubstr("%c: an input in VMEM that is turned"));
}

}  // namespace
}  // namespace ptxla::lowering
