// 1 / x: the reciprocal alone, without the product of a quotient.
#include <gtest/gtest.h>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

std::string Over(double numerator, const char* type = "f32") {
  return absl::Substitute(R"(HloModule m
fused {
  x = $1[512,1000] parameter(0)
  c = $1[] constant($0)
  n = $1[512,1000] broadcast(c), dimensions={}
  ROOT q = $1[512,1000] divide(n, x)
}
ENTRY e {
  x = $1[512,1000] parameter(0)
  ROOT f = $1[512,1000] fusion(x), kind=kLoop, calls=fused
})",
                          numerator, type);
}

// Where the vector slots bound the loop: Newton steps behind the EUP.
TEST(ReciprocalTest, OneOverXTakesFewerVectorSlotsThanAnyOtherQuotient) {
  for (const char* chip : {"v3", "v4", "v5e", "v5p"}) {
    HarnessOptions options;
    options.chip = chip;
    options.low = 0.5;
    options.high = 4;
    ASSERT_OK_AND_ASSIGN(const HarnessResult one,
                         CompareKernel(Over(1), options));
    ASSERT_OK_AND_ASSIGN(const HarnessResult two,
                         CompareKernel(Over(2), options));
    EXPECT_LT(one.cycles, two.cycles) << chip;
  }
}

// No Newton step: the EUP's result has more bits than bf16.
TEST(ReciprocalTest, OneOverXOfBf16IsNoExactQuotient) {
  HarnessOptions options;
  options.chip = "v4";
  options.low = 0.5;
  options.high = 4;
  options.absolute = options.relative = 2e-2;
  ASSERT_OK_AND_ASSIGN(const HarnessResult f32,
                       CompareKernel(Over(1), options));
  ASSERT_OK_AND_ASSIGN(const HarnessResult bf16,
                       CompareKernel(Over(1, "bf16"), options));
  EXPECT_LT(bf16.cycles, f32.cycles);
}

}  // namespace
}  // namespace ptxla::lowering
