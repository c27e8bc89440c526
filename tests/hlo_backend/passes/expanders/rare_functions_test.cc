// Functions made of what the hardware has give the values of the originals,
// where operands are special too.
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/passes/pipeline.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

// Every value against every value, before and after.
void Compare(const std::string& op, const std::string& type,
             const std::vector<double>& values, double relative) {
  const int n = static_cast<int>(values.size());
  const bool binary = op != "asin" && op != "acos" && op != "tan" &&
                      op != "sinh" && op != "cosh" && op != "asinh" &&
                      op != "acosh" && op != "atanh";
  const std::string text = absl::Substitute(
      "HloModule m\nENTRY e {\n x = $0[$1] parameter(0)\n"
      " y = $0[$1] parameter(1)\n ROOT r = $0[$1] $2(x$3)\n}\n",
      type, n * n, op, binary ? ", y" : "");
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(text));
  const Shape shape = module->entry()->parameter(0)->shape();
  Literal x(shape), y(shape);
  for (int i = 0; i < n * n; ++i) {
    if (IsFloat(shape.type())) {
      x.SetDouble(i, values[i / n]);
      y.SetDouble(i, values[i % n]);
    } else {
      x.SetInt(i, static_cast<int64_t>(values[i / n]));
      y.SetInt(i, static_cast<int64_t>(values[i % n]));
    }
  }
  ASSERT_OK_AND_ASSIGN(Literal expected, Evaluate(*module, {x, y}));
  ASSERT_OK_AND_ASSIGN(Pipeline p, Pipeline::FromNames("elementwise-expander"));
  ASSERT_OK_AND_ASSIGN(const auto report, p.Run(module.get(), {}));
  ASSERT_OK(VerifyModule(*module));
  EXPECT_NE(module->entry()->root()->opcode(), *OpcodeFromName(op));
  ASSERT_OK_AND_ASSIGN(Literal actual, Evaluate(*module, {x, y}));
  for (int i = 0; i < n * n; ++i) {
    const std::string where = absl::StrCat(type, " ", op, "(", x.GetDouble(i),
                                           ", ", y.GetDouble(i), ")");
    if (!IsFloat(shape.type())) {
      EXPECT_EQ(actual.GetInt(i), expected.GetInt(i)) << where;
      continue;
    }
    const double e = expected.GetDouble(i), a = actual.GetDouble(i);
    if (std::isnan(e) || std::isinf(e)) {
      EXPECT_EQ(absl::StrCat(a), absl::StrCat(e)) << where;
    } else {
      EXPECT_NEAR(a, e, relative * std::max(std::abs(e), 1e-3)) << where;
    }
  }
}

TEST(RareFunctionsTest, IntegersAreExact) {
  const std::vector<double> words = {
      0,          1,           -1,       2,          -2,
      3,          7,           -7,       10,         255,
      256,        65535,       65536,    -65537,     1000003,
      -1000003,   8388607,     16777217, 2147483647, -2147483648.,
      2147483646, -2147483647, 715827883};
  std::vector<double> natural = {4294967295., 4294967294., 2863311531.};
  for (double w : words) {
    if (w >= 0) natural.push_back(w);
  }
  Compare("power", "s32", words, 0);
  Compare("power", "u32", natural, 0);
  const std::vector<double> bytes = {0, 1, -1, 2, -3, 5, 100, 127, -128, -127};
  for (const char* op : {"divide", "remainder", "mulhi"}) {
    Compare(op, "s8", bytes, 0);
  }
}

TEST(RareFunctionsTest, FloatsAreCloseAndSpecialValuesAreThemselves) {
  const double infinite = std::numeric_limits<double>::infinity();
  const std::vector<double> all = {
      0.0,  -0.0,  1,       -1,         0.5,      -0.5,
      1.5,  2.5,   -2.5,    0.49999997, 3.75,     -7.1,
      1e-3, 12.25, 1000.75, -infinite,  infinite, std::nan("")};
  const std::vector<double> unit = {0.0,  -0.0, 1,    -1,     0.5,
                                    -0.5, 0.25, 0.99, -0.999, 1e-3};
  Compare("atan2", "f32", all, 1e-6);
  Compare("remainder", "f32", all, 1e-6);
  for (const char* op : {"asin", "acos", "tan", "atanh"}) {
    Compare(op, "f32", unit, 2e-6);
  }
  for (const char* op : {"sinh", "cosh", "asinh", "acosh"}) {
    Compare(op, "f32", all, 2e-6);
    Compare(op, "bf16", all, 8e-3);
  }
}

}  // namespace
}  // namespace ptxla::hlo
