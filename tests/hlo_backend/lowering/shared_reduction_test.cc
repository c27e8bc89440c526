// Reductions of which two cores make a part each: what they send one another,
// and bundles of both against the evaluator.
#include <string>

#include "absl/strings/substitute.h"
#include "isa/peer_link.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

constexpr const char* kTwoCores[] = {"v4", "v5p"};

HarnessOptions On(const char* chip) {
  HarnessOptions options;
  options.chip = chip;
  options.absolute = 1e-3;
  options.relative = 1e-3;
  return options;
}

// $0[$1] reduced by $4 over dimensions $2, to $0[$3].
std::string Reduced(absl::string_view type, absl::string_view dims,
                    absl::string_view over, absl::string_view result,
                    absl::string_view operation) {
  return absl::Substitute(R"(HloModule m
g {
  x = $0[] parameter(0)
  y = $0[] parameter(1)
  ROOT z = $0[] $4(x, y)
}
ENTRY e {
  a = $0[$1] parameter(0)
  i = $0[] constant(3)
  ROOT r = $0[$3] reduce(a, i), dimensions={$2}, to_apply=g
})",
                          type, dims, over, result, operation);
}

TEST(SharedReductionTest, RowsThatAreReducedAreSharedByTwoCores) {
  for (const char* chip : kTwoCores) {
    ASSERT_OK_AND_ASSIGN(
        const HarnessResult result,
        CompareKernel(Reduced("f32", "4100,100", "0", "100", "add"), On(chip)));
    EXPECT_GE(result.kernel.megacore_dim, 0) << chip;
    EXPECT_TRUE(isa::SendsToPeer(result.kernel)) << chip;
  }
}

TEST(SharedReductionTest, ColumnsPlanesAndWholeArraysToo) {
  for (const char* chip : kTwoCores) {
    for (const std::string& hlo :
         {Reduced("f32", "7,70000", "1", "7", "add"),
          Reduced("f32", "1030,1000", "0,1", "", "maximum"),
          Reduced("f32", "90,129,100", "0,1", "100", "minimum"),
          Reduced("s32", "20000,100", "0", "100", "add")}) {
      ASSERT_OK_AND_ASSIGN(const HarnessResult result,
                           CompareKernel(hlo, On(chip)));
      EXPECT_TRUE(isa::SendsToPeer(result.kernel)) << chip << hlo;
    }
  }
}

// Five planes lie in one tile of the result, so cores cannot share them: each
// step has an exchange of its own, and the parts of two lie in two places.
TEST(SharedReductionTest, StepsOfKeptDimensionsSendTheirOwnParts) {
  for (const char* chip : kTwoCores) {
    // Steps of so few tiles that planes go one by one.
    ASSERT_OK_AND_ASSIGN(const auto whole, chips::ChipSpec::Load(chip));
    ASSERT_OK_AND_ASSIGN(const auto spec,
                         whole.WithValue("policy.lone_reduction_tiles", 8));
    HarnessOptions options = On(chip);
    options.spec = &spec;
    ASSERT_OK_AND_ASSIGN(
        const HarnessResult result,
        CompareKernel(Reduced("f32", "5,9000,100", "1", "5,100", "add"),
                      options));
    EXPECT_TRUE(isa::SendsToPeer(result.kernel)) << chip;
    EXPECT_EQ(result.kernel.grid[0], 5) << chip;
  }
}

// What a step makes beside its part of the sum is stored by the core that has
// the step; what follows the sum is made by both.
TEST(SharedReductionTest, BesideAndBehindTheSum) {
  const std::string hlo = R"(HloModule m
g {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
f {
  a = f32[3000,100] parameter(0)
  b = f32[3000,100] parameter(1)
  w = f32[100] parameter(2)
  p = f32[3000,100] multiply(a, b)
  i = f32[] constant(0)
  s = f32[100] reduce(p, i), dimensions={0}, to_apply=g
  u = f32[100] add(s, w)
  ROOT t = (f32[3000,100], f32[100]) tuple(p, u)
}
ENTRY e {
  a = f32[3000,100] parameter(0)
  b = f32[3000,100] parameter(1)
  w = f32[100] parameter(2)
  t = (f32[3000,100], f32[100]) fusion(a, b, w), kind=kInput, calls=f
  x = f32[3000,100] get-tuple-element(t), index=0
  y = f32[100] get-tuple-element(t), index=1
  ROOT r = (f32[3000,100], f32[100]) tuple(x, y)
})";
  for (const char* chip : kTwoCores) {
    ASSERT_OK_AND_ASSIGN(const HarnessResult result,
                         CompareKernel(hlo, On(chip)));
    EXPECT_TRUE(isa::SendsToPeer(result.kernel)) << chip;
  }
}

TEST(SharedReductionTest, OneCoreSendsNothing) {
  ASSERT_OK_AND_ASSIGN(
      const HarnessResult result,
      CompareKernel(Reduced("f32", "4100,100", "0", "100", "add"), On("v5e")));
  EXPECT_FALSE(isa::SendsToPeer(result.kernel));
}

}  // namespace
}  // namespace ptxla::lowering
