// Left operands that lie as [K, M]: do they go through the XLUs under the
// matmuls, and does every step have them?
#include <string>

#include "absl/strings/str_cat.h"
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

// The gradient of a matrix of weights whose columns are classes: what it is
// multiplied with is computed from three values per row.
std::string Gradient(bool turned, int64_t m, int64_t k, int64_t n) {
  return absl::Substitute(
      R"(HloModule m
fused {
  a = bf16[$0] parameter(0)
  x = bf16[$1,$2] parameter(1)
  t = f32[$1] parameter(2)
  s = f32[$1] parameter(3)
  y = s32[$1] parameter(4)
  c = f32[$1,$2] convert(x)
  tb = f32[$1,$2] broadcast(t), dimensions={0}
  d = f32[$1,$2] subtract(c, tb)
  e = f32[$1,$2] exponential(d)
  sb = f32[$1,$2] broadcast(s), dimensions={0}
  p = f32[$1,$2] multiply(e, sb)
  i = s32[$1,$2] iota(), iota_dimension=1
  yb = s32[$1,$2] broadcast(y), dimensions={0}
  q = pred[$1,$2] compare(i, yb), direction=EQ
  one = f32[] constant(1)
  ones = f32[$1,$2] broadcast(one), dimensions={}
  zero = f32[] constant(0)
  zeros = f32[$1,$2] broadcast(zero), dimensions={}
  h = f32[$1,$2] select(q, ones, zeros)
  g = f32[$1,$2] subtract(p, h)
  r = bf16[$1,$2] convert(g)
  ROOT o = bf16[$4,$2] dot(a, r), lhs_contracting_dims={$3}, rhs_contracting_dims={0}
}
ENTRY e {
  a = bf16[$0] parameter(0)
  x = bf16[$1,$2] parameter(1)
  t = f32[$1] parameter(2)
  s = f32[$1] parameter(3)
  y = s32[$1] parameter(4)
  ROOT f = bf16[$4,$2] fusion(a, x, t, s, y), kind=kOutput, calls=fused
})",
      turned ? absl::StrCat(k, ",", m) : absl::StrCat(m, ",", k), k, n,
      turned ? 0 : 1, m);
}

TEST(TurnedProductTest, ValuesPerRowOfTheWeightsDoNotWaitForTheTurns) {
  for (const char* chip : {"v5e", "v6e"}) {
    ASSERT_OK_AND_ASSIGN(
        const HarnessResult plain,
        CompareKernel(Gradient(false, 1024, 1024, 512), ProductOn(chip)));
    ASSERT_OK_AND_ASSIGN(
        const HarnessResult turned,
        CompareKernel(Gradient(true, 1024, 1024, 512), ProductOn(chip)));
    EXPECT_LT(static_cast<double>(turned.cycles),
              1.25 * static_cast<double>(plain.cycles))
        << chip << " " << turned.cycles << " " << plain.cycles;
  }
}

TEST(TurnedProductTest, ComputedWeightsEqualTheEvaluatorWhereTilesAreNotFull) {
  for (const char* chip : {"v2", "v3", "v4", "v5e", "v6e", "tpu7x"}) {
    for (const int64_t k : {1, 7, 129, 1000}) {
      EXPECT_OK(CompareKernel(Gradient(true, 127, k, 129), ProductOn(chip, 0.2))
                    .status())
          << chip << " " << k;
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
