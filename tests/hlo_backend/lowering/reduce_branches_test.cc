// Chains of additions that are too few to fill the bundles have branches.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// $0: f32[dims] reduced over $1 to f32[$2].
std::string Sum(absl::string_view dims, absl::string_view over,
                absl::string_view result) {
  return absl::Substitute(R"(HloModule m
g {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
ENTRY e {
  a = f32[$0] parameter(0)
  i = f32[] constant(0)
  ROOT r = f32[$2] reduce(a, i), dimensions={$1}, to_apply=g
})",
                          dims, over, result);
}

int64_t Cycles(const std::string& hlo, const char* chip) {
  HarnessOptions options;
  options.chip = chip;
  options.in_vmem = {0};
  // Sums of a million numbers of both signs.
  options.absolute = 0.5;
  const auto r = CompareKernel(hlo, options);
  EXPECT_OK(r.status()) << chip;
  return r.ok() ? r->cycles : 0;
}

// 1,024 tiles; libtpu 0.0.42.1: 1,075 bundles on v6e, 1,079 on tpu7x.
TEST(ReduceBranchesTest, ASumOfAllTakesABundleAnAddition) {
  for (const char* chip : {"v6e", "tpu7x"}) {
    EXPECT_LT(Cycles(Sum("1024,1024", "0,1", ""), chip), 1300) << chip;
  }
}

// 64 steps of 172 bundles there.
TEST(ReduceBranchesTest, ASumOfOneColumnOfTilesToo) {
  EXPECT_LT(Cycles(Sum("65536,128", "0", "128"), "v6e"), 64 * 180);
}

TEST(ReduceBranchesTest, RaggedSumsAreRight) {
  for (const char* chip : {"v2", "v4", "v5e", "tpu7x"}) {
    HarnessOptions options;
    options.chip = chip;
    for (const auto& text :
         {Sum("1", "0", ""), Sum("7", "0", ""), Sum("129", "0", ""),
          Sum("1000", "0", ""), Sum("127,129", "0,1", ""),
          Sum("1000,129", "0", "129"), Sum("1000,7", "0", "7"),
          Sum("37,8,128", "0", "8,128"), Sum("3,129,127", "0,1,2", "")}) {
      EXPECT_OK(CompareKernel(text, options).status()) << chip << text;
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
