// Left operands that lie as [K, M]: do they go through the XLUs under the
// matmuls, and does every step have them?
#include <string>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/hlo_backend/lowering/products/product_tolerance.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// [K, M] turned, or [M, K]; times [K, N].
std::string Product(bool turned, const std::string& type, int64_t m, int64_t k,
                    int64_t n) {
  return absl::Substitute(
      R"(HloModule m
ENTRY e {
  a = $0[$1,$2] parameter(0)
  b = $0[$3,$4] parameter(1)
  ROOT d = $0[$5,$4] dot(a, b), lhs_contracting_dims={$6}, rhs_contracting_dims={0}
})",
      type, turned ? k : m, turned ? m : k, k, n, m, turned ? 0 : 1);
}

TEST(TurnedProductTest, TakesLittleLongerThanOneThatLiesRight) {
  for (const char* chip : {"v4", "v5e", "v5p", "v6e"}) {
    ASSERT_OK_AND_ASSIGN(
        const HarnessResult plain,
        CompareKernel(Product(false, "bf16", 512, 512, 1024), ProductOn(chip)));
    ASSERT_OK_AND_ASSIGN(
        const HarnessResult turned,
        CompareKernel(Product(true, "bf16", 512, 512, 1024), ProductOn(chip)));
    EXPECT_LT(static_cast<double>(turned.cycles),
              1.25 * static_cast<double>(plain.cycles))
        << chip;
  }
}

// Rows beyond K are not brought into the form of the arrays.
TEST(TurnedProductTest, EqualsTheEvaluatorWhereTilesAreNotFull) {
  for (const char* chip : {"v2", "v4", "v6e"}) {
    for (const char* type : {"bf16", "f32"}) {
      for (const int64_t k : {20, 192, 321}) {
        EXPECT_OK(
            CompareKernel(Product(true, type, 320, k, 200), ProductOn(chip))
                .status())
            << chip << " " << type << " " << k;
      }
    }
  }
}

// More than VMEM holds: steps along N use the block that the first has turned.
TEST(TurnedProductTest, StepsShareWhatTheFirstHasTurned) {
  for (const char* chip : {"v4", "v5e"}) {
    EXPECT_OK(
        CompareKernel(Product(true, "f32", 256, 384, 20000), ProductOn(chip))
            .status())
        << chip;
  }
}

}  // namespace
}  // namespace ptxla::lowering
