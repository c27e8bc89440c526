// 1 / x: the reciprocal alone, without the product of a quotient.
#include <gtest/gtest.h>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

std::string Over(double numerator) {
  return absl::Substitute(R"(HloModule m
fused {
  x = f32[512,1000] parameter(0)
  c = f32[] constant($0)
  n = f32[512,1000] broadcast(c), dimensions={}
  ROOT q = f32[512,1000] divide(n, x)
}
ENTRY e {
  x = f32[512,1000] parameter(0)
  ROOT f = f32[512,1000] fusion(x), kind=kLoop, calls=fused
})",
                          numerator);
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

}  // namespace
}  // namespace ptxla::lowering
