// Products of which each of two cores adds up a part of K: bundles of both
// against the evaluator.
#include <array>
#include <string>

#include "absl/strings/substitute.h"
#include "isa/peer_link.h"
#include "tests/hlo_backend/lowering/products/product_tolerance.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

constexpr const char* kTwoCores[] = {"v4", "v5p"};

// A weight's update by its gradient, of $0 rows: f32[$1,$2].
std::string Update(int rows, int m, int n) {
  return absl::Substitute(R"(HloModule m
f {
  x = bf16[$0,$1] parameter(0)
  y = bf16[$0,$2] parameter(1)
  w = f32[$1,$2] parameter(2)
  d = f32[$1,$2] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  c = f32[] constant(0.125)
  r = f32[$1,$2] broadcast(c), dimensions={}
  g = f32[$1,$2] multiply(d, r)
  ROOT u = f32[$1,$2] subtract(w, g)
}
ENTRY e {
  x = bf16[$0,$1] parameter(0)
  y = bf16[$0,$2] parameter(1)
  w = f32[$1,$2] parameter(2)
  ROOT r = f32[$1,$2] fusion(x, y, w), kind=kOutput, calls=f
})",
                          rows, m, n);
}

TEST(SharedDepthTest, OneBlockOfResultsHasItsDepthShared) {
  for (const char* chip : kTwoCores) {
    ASSERT_OK_AND_ASSIGN(
        const HarnessResult result,
        CompareKernel(Update(16384, 128, 128), ProductOn(chip, 0.2)));
    EXPECT_TRUE(isa::SendsToPeer(result.kernel)) << chip;
  }
}

TEST(SharedDepthTest, RaggedShapesEqualTheEvaluator) {
  for (const char* chip : kTwoCores) {
    for (const auto& [rows, m, n] :
         {std::array{30001, 100, 70}, std::array{30000, 7, 129},
          std::array{20000, 256, 130}}) {
      ASSERT_OK_AND_ASSIGN(
          const HarnessResult result,
          CompareKernel(Update(rows, m, n), ProductOn(chip, 0.2)));
      EXPECT_TRUE(isa::SendsToPeer(result.kernel))
          << chip << " " << rows << "x" << m << "x" << n;
    }
  }
}

// Sums of whole numbers are added as such where the MXU makes them (v5p); where
// they come out of it as f32 and are converted (v4), one core has all of K.
TEST(SharedDepthTest, SumsOfWholeNumbersAreExact) {
  const std::string hlo = R"(HloModule m
ENTRY e {
  x = s8[64,65536] parameter(0)
  y = s8[65536,128] parameter(1)
  ROOT d = s32[64,128] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})";
  for (const char* chip : kTwoCores) {
    HarnessOptions exact = ProductOn(chip);
    exact.absolute = exact.relative = 0;
    ASSERT_OK_AND_ASSIGN(const HarnessResult result, CompareKernel(hlo, exact));
    EXPECT_EQ(isa::SendsToPeer(result.kernel), std::string(chip) == "v5p");
  }
}

// A gradient of weights, all of whose results a step makes.
TEST(SharedDepthTest, GradientsOfWeights) {
  const auto gradient = [](int batch, int size, int in, int out, int taps) {
    return absl::Substitute(
        R"(HloModule m
ENTRY e {
  x = bf16[$1,$1,$0,$2] parameter(0)
  w = bf16[$5,$5,$0,$3] parameter(1)
  ROOT c = f32[$4,$4,$2,$3] convolution(x, w), window={size=$5x$5 pad=1_1x1_1}, dim_labels=01fb_01io->01bf
})",
        batch, size, in, out, taps, size + 3 - taps);
  };
  for (const char* chip : kTwoCores) {
    for (const std::string& hlo :
         {gradient(64, 28, 64, 64, 3), gradient(40, 16, 12, 128, 3),
          gradient(128, 14, 128, 128, 3)}) {
      ASSERT_OK_AND_ASSIGN(const HarnessResult result,
                           CompareKernel(hlo, ProductOn(chip, 0.5)));
      EXPECT_TRUE(isa::SendsToPeer(result.kernel)) << chip << hlo;
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
