// Formulas of many constants behind a product: as fast as its parts.
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "base/status.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

constexpr int kPolynomials = 3, kDegree = 12;

// r = p0(d) if d < 0.1, else p1(d) if d < 0.2 ...: what erfc is made of.
std::string Formula() {
  std::string text;
  const auto constant = [&text](const std::string& name, double value) {
    absl::SubstituteAndAppend(&text,
                              "  $0c = f32[] constant($1)\n"
                              "  $0 = f32[256,512] broadcast($0c)\n",
                              name, value);
  };
  std::string so_far = "d";
  for (int p = 0; p < kPolynomials; ++p) {
    std::string value = absl::StrCat("a", p, "_0");
    constant(value, 0.25 + p);
    for (int k = 1; k <= kDegree; ++k) {
      const std::string id = absl::StrCat(p, "_", k);
      constant(absl::StrCat("a", id), 0.03 * k - 0.1 * p);
      absl::SubstituteAndAppend(&text,
                                "  m$0 = f32[256,512] multiply($1, d)\n"
                                "  s$0 = f32[256,512] add(m$0, a$0)\n",
                                id, value);
      value = absl::StrCat("s", id);
    }
    constant(absl::StrCat("b", p), 0.1 * p);
    absl::SubstituteAndAppend(
        &text,
        "  l$0 = pred[256,512] compare(d, b$0), direction=LT\n"
        "  r$0 = f32[256,512] select(l$0, $1, $2)\n",
        p, value, so_far);
    so_far = absl::StrCat("r", p);
  }
  return absl::StrCat(text, "  ROOT r = f32[256,512] negate(", so_far, ")\n");
}

constexpr absl::string_view kDot =
    "dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
constexpr absl::string_view kOperands =
    "  x = bf16[256,256] parameter(0)\n  y = bf16[256,512] parameter(1)\n";

// Cycles of a product with `formula` (of d to r) behind it, as a share of those
// of the product and of the formula alone.
absl::StatusOr<double> ShareOfParts(const std::string& formula,
                                    const char* chip) {
  HarnessOptions options;
  options.chip = chip;
  options.low = -0.1;
  options.high = 0.1;
  options.absolute = options.relative = 0.01;
  ASSIGN_OR_RETURN(
      const HarnessResult product,
      CompareKernel(absl::StrCat("HloModule m\nENTRY e {\n", kOperands,
                                 "  ROOT d = f32[256,512] ", kDot, "\n}"),
                    options));
  ASSIGN_OR_RETURN(
      const HarnessResult alone,
      CompareKernel(
          absl::StrCat("HloModule m\nfused {\n  d = f32[256,512] "
                       "parameter(0)\n",
                       formula,
                       "}\nENTRY e {\n  x = f32[256,512] parameter(0)\n  "
                       "ROOT f = f32[256,512] fusion(x), kind=kLoop, "
                       "calls=fused\n}"),
          options));
  ASSIGN_OR_RETURN(
      const HarnessResult fused,
      CompareKernel(absl::StrCat("HloModule m\nfused {\n", kOperands,
                                 "  d = f32[256,512] ", kDot, "\n", formula,
                                 "}\nENTRY e {\n", kOperands,
                                 "  ROOT f = f32[256,512] fusion(x, y), "
                                 "kind=kOutput, calls=fused\n}"),
                    options));
  return static_cast<double>(fused.cycles) /
         static_cast<double>(product.cycles + alone.cycles);
}

TEST(LongEpilogueTest, APolynomialBehindAProductOverlapsWithItself) {
  for (const char* chip : {"v4", "v5e", "v6e"}) {
    ASSERT_OK_AND_ASSIGN(const double share, ShareOfParts(Formula(), chip));
    EXPECT_LT(share, 1.3) << chip;
  }
}

// Its exponential and its reciprocal wait for each other in the EUP, and the
// rows behind do not wait for both.
TEST(LongEpilogueTest, ASigmoidBehindAProductOverlapsWithItself) {
  for (const char* chip : {"v5e", "v6e", "tpu7x"}) {
    ASSERT_OK_AND_ASSIGN(
        const double share,
        ShareOfParts("  ROOT r = f32[256,512] logistic(d)\n", chip));
    EXPECT_LT(share, 1.1) << chip;
  }
}

}  // namespace
}  // namespace ptxla::lowering
