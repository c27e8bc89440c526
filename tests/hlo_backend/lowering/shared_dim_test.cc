// Which dimension of a grid two cores share, and how many steps each has at
// least: as in libtpu 0.0.42.1 on v4 and v5p.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/substitute.h"
#include "hlo_backend/lowering/core_window.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

using ::testing::ElementsAre;

TEST(SharedDimTest, CoresHaveAsManyStepsEachWhereTheyCan) {
  EXPECT_EQ(SharedDim({12, 2, 3}, 2), 0);
  EXPECT_EQ(SharedDim({9, 2}, 2), 1);
  EXPECT_EQ(SharedDim({7, 20, 1, 1}, 2), 1);
}

TEST(SharedDimTest, OfSeveralTheLongestThenTheOutermost) {
  EXPECT_EQ(SharedDim({7, 4, 38, 1}, 2), 2);
  EXPECT_EQ(SharedDim({4, 4, 1}, 2), 0);
}

TEST(SharedDimTest, OfOddOnesTheLongestLeavesTheLeastOver) {
  EXPECT_EQ(SharedDim({1, 33, 1, 3}, 2), 1);
  EXPECT_EQ(SharedDim({3, 33}, 2), 1);
}

TEST(SharedDimTest, OneStepIsNotShared) {
  EXPECT_EQ(SharedDim({}, 2), -1);
  EXPECT_EQ(SharedDim({1, 1}, 2), -1);
}

// tanh of all, times a value for each column.
isa::Kernel Loop(int rows, int columns, const chips::ChipSpec* spec) {
  HarnessOptions options;
  options.spec = spec;
  auto kernel = KernelOf(absl::Substitute(R"(HloModule m
f {
  x = f32[$0,$1] parameter(0)
  v = f32[$1] parameter(1)
  t = f32[$0,$1] tanh(x)
  b = f32[$0,$1] broadcast(v), dimensions={1}
  ROOT r = f32[$0,$1] multiply(t, b)
}
ENTRY e {
  x = f32[$0,$1] parameter(0)
  v = f32[$1] parameter(1)
  ROOT r = f32[$0,$1] fusion(x, v), kind=kLoop, calls=f
})",
                                          rows, columns),
                         options);
  EXPECT_OK(kernel.status());
  return kernel.ok() ? *std::move(kernel) : isa::Kernel();
}

TEST(SharedDimTest, ALoopsCoresShareItsEvenDimension) {
  ASSERT_OK_AND_ASSIGN(const chips::ChipSpec v5p, chips::ChipSpec::Load("v5p"));
  const isa::Kernel kernel = Loop(5000, 5120, &v5p);
  EXPECT_THAT(kernel.grid, ElementsAre(13, 2));
  EXPECT_EQ(kernel.megacore_dim, 1);
}

TEST(SharedDimTest, LoopsOfV4HaveSeveralStepsACore) {
  ASSERT_OK_AND_ASSIGN(const chips::ChipSpec v4, chips::ChipSpec::Load("v4"));
  ASSERT_OK_AND_ASSIGN(const chips::ChipSpec one,
                       v4.WithValue("policy.least_steps", 1));
  EXPECT_GE(Loop(2048, 2048, &v4).NumSteps(), 2 * 4);
  EXPECT_LT(Loop(2048, 2048, &one).NumSteps(), 2 * 4);
}

}  // namespace
}  // namespace ptxla::lowering
