// f64 arithmetic on pairs of f32 is close to that of f64.
#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/passes/pipeline.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

class X64FloatTest : public ::testing::TestWithParam<std::string> {};

TEST_P(X64FloatTest, PairsAreCloseToF64) {
  const std::string text = absl::StrFormat(
      "HloModule m\nsum {\n a = f64[] parameter(0)\n b = f64[] parameter(1)\n"
      " ROOT s = f64[] add(a, b)\n}\nENTRY e {\n x = f64[12] parameter(0)\n"
      " y = f64[12] parameter(1)\n%s\n}\n",
      GetParam());
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(text));
  const Shape shape = module->entry()->parameter(0)->shape();
  Literal x(shape), y(shape);
  const double left[] = {0,    1,         -1,   1e9 + 0.25, -3.5,  1e-5,
                         0.25, 1234.5678, -2.5, 7,          65537, 1e12 + 3};
  const double right[] = {3,   -7, 1.0 / 3, 0.1, 2,    -1e-3,
                          5.5, 9,  1e6,     -4,  -2.5, 12345};
  for (int i = 0; i < 12; ++i) {
    x.SetDouble(i, left[i]);
    y.SetDouble(i, right[i]);
  }
  ASSERT_OK_AND_ASSIGN(Literal expected, Evaluate(*module, {x, y}));
  ASSERT_OK_AND_ASSIGN(Pipeline p, Pipeline::FromNames("x64-elimination"));
  ASSERT_OK(p.Run(module.get(), {}).status());
  ASSERT_OK(VerifyModule(*module));
  ASSERT_OK_AND_ASSIGN(Literal actual, Evaluate(*module, {x, y}));
  // Functions that are computed on the high part have the accuracy of f32.
  const bool coarse = absl::StrContains(text, "exponential") ||
                      absl::StrContains(text, "power") ||
                      absl::StrContains(text, "tanh");
  for (int64_t i = 0; i < expected.shape().ElementCount(); ++i) {
    const double e = expected.GetDouble(i), a = actual.GetDouble(i);
    if (std::isnan(e) || std::isinf(e)) continue;
    EXPECT_NEAR(a, e, (coarse ? 2e-6 : 1e-12) * std::max(1.0, std::abs(e)))
        << text << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Operations, X64FloatTest,
    ::testing::Values(
        "ROOT r = f64[12] add(x, y)", "ROOT r = f64[12] multiply(x, y)",
        "ROOT r = f64[12] divide(x, y)", "ROOT r = f64[12] maximum(x, y)",
        "ROOT r = f64[12] minimum(x, y)", "ROOT r = f64[12] abs(x)",
        "ROOT r = f64[12] floor(x)", "ROOT r = f64[12] ceil(x)",
        "a = f64[12] abs(x)\nROOT r = f64[12] sqrt(a)",
        "ROOT r = f64[12] clamp(y, x, y)", "ROOT r = s64[12] convert(x)",
        "ROOT r = s32[12] convert(y)",
        "i = s64[12] convert(x)\nROOT r = f64[12] convert(i)",
        "i = s32[12] convert(y)\nROOT r = f64[12] convert(i)",
        "z = f64[] constant(0)\nROOT r = f64[] reduce(x, z), dimensions={0}, "
        "to_apply=sum",
        "t = f64[12] tanh(x)\nROOT r = f64[12] exponential(t)",
        "a = f64[12] abs(y)\nt = f64[12] tanh(x)\n"
        "ROOT r = f64[12] power(a, t)",
        "ROOT r = pred[12] is-finite(x)"));

}  // namespace
}  // namespace ptxla::hlo
