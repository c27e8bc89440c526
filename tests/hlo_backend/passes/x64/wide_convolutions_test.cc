// Convolutions and scatters of types that no unit of a chip takes compute the
// same after the passes that write them as something else.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/passes/pipeline.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

// Random arguments; numbers of all bits of an integer type up to 32.
std::vector<Literal> Arguments(const Module& module, std::mt19937* random) {
  std::vector<Literal> arguments;
  for (int n = 0; n < module.entry()->parameter_count(); ++n) {
    const Shape& shape = module.entry()->parameter(n)->shape();
    Literal x(shape);
    const int bits = std::min(BitWidth(shape.type()), 32);
    const double range = IsFloat(shape.type()) ? 2 : std::exp2(bits);
    const double low = IsUnsigned(shape.type()) ? 0 : -range / 2;
    for (int64_t i = 0; i < x.ElementCount(); ++i) {
      const double at = low + range * ((*random)() / 4294967296.0);
      x.SetDouble(i, IsFloat(shape.type()) ? at : std::floor(at));
    }
    arguments.push_back(std::move(x));
  }
  return arguments;
}

void ExpectSame(const std::string& text, const std::string& passes,
                std::mt19937* random) {
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(text));
  const std::vector<Literal> arguments = Arguments(*module, random);
  ASSERT_OK_AND_ASSIGN(const Literal expected, Evaluate(*module, arguments));
  ASSERT_OK_AND_ASSIGN(Pipeline p, Pipeline::FromNames(passes));
  const std::string before = Print(*module);
  ASSERT_OK(p.Run(module.get(), {}).status()) << text;
  EXPECT_NE(Print(*module), before);
  ASSERT_OK(VerifyModule(*module)) << text;
  ASSERT_OK_AND_ASSIGN(const Literal actual, Evaluate(*module, arguments));
  ASSERT_EQ(actual.shape().ToString(), expected.shape().ToString());
  for (int64_t i = 0; i < expected.ElementCount(); ++i) {
    const double e = expected.GetDouble(i);
    ASSERT_NEAR(actual.GetDouble(i), e, 1e-12 * std::max(1.0, std::abs(e)))
        << text << i;
  }
}

// Any window, and groups of features or of the batch.
std::string Convolution(const std::string& in, const std::string& out,
                        std::mt19937* random) {
  const auto pick = [&](std::vector<int64_t> of) {
    return of[(*random)() % of.size()];
  };
  const int64_t groups = pick({1, 2, 3}), batch = pick({1, 2, 5});
  const int64_t features = pick({1, 3, 9}), columns = groups * pick({1, 4});
  const bool of_batch = (*random)() % 2 == 0;
  std::string sizes, taps, outputs, window[6];
  for (int d = 0; d < 2; ++d) {
    const int64_t n = pick({6, 7}), size = pick({1, 2, 3});
    const int64_t stride = pick({1, 2}), low = pick({0, 1, 2, -1});
    const int64_t high = pick({0, 1}), base = pick({1, 2});
    const int64_t dilation = pick({1, 2});
    const int64_t padded = (n - 1) * base + 1 + low + high;
    absl::StrAppend(&sizes, ",", n);
    absl::StrAppend(&taps, size, ",");
    absl::StrAppend(&outputs, ",",
                    (padded - (size - 1) * dilation - 1) / stride + 1);
    const std::string parts[] = {
        absl::StrCat(size),           absl::StrCat(stride),
        absl::StrCat(low, "_", high), absl::StrCat(base),
        absl::StrCat(dilation),       absl::StrCat((*random)() % 2)};
    for (int k = 0; k < 6; ++k) {
      absl::StrAppend(&window[k], d == 0 ? "" : "x", parts[k]);
    }
  }
  const std::string attributes = absl::StrCat(
      "window={size=", window[0], " stride=", window[1], " pad=", window[2],
      " lhs_dilate=", window[3], " rhs_dilate=", window[4],
      " rhs_reversal=", window[5], "}, ", of_batch ? "batch" : "feature",
      "_group_count=", groups);
  return absl::Substitute(R"(HloModule m
ENTRY e {
  x = $0[$1$2,$3] parameter(0)
  w = $0[$4$5,$6] parameter(1)
  ROOT c = $7[$8$9,$6] convolution(x, w), dim_labels=b01f_01io->b01f, )",
                          in, of_batch ? batch * groups : batch, sizes,
                          of_batch ? features : features * groups, taps,
                          features, columns, out, batch, outputs) +
         attributes + "\n}\n";
}

TEST(WideConvolutionsTest, F64IsASumOverTaps) {
  std::mt19937 random(5);
  for (int n = 0; n < 20; ++n) {
    const std::string in = n % 4 == 0 ? "f32" : "f64";
    ExpectSame(Convolution(in, "f64", &random), "tap-products", &random);
  }
}

TEST(WideConvolutionsTest, IntegersAreConvolutionsOfBytes) {
  std::mt19937 random(6);
  for (const char* type : {"s8", "u8", "s4", "s16", "u16", "s32", "u32"}) {
    for (int n = 0; n < 4; ++n) {
      const std::string in = type;
      const bool narrow = in.size() == 2;
      ExpectSame(Convolution(in, narrow ? "s32" : in, &random),
                 "integer-product-expander", &random);
    }
  }
}

// The extremes of 64-bit numbers, and what is added to f64, go window by
// window.
TEST(WideConvolutionsTest, ScattersThatJoinWordsAreLoops) {
  std::mt19937 random(7);
  for (const char* type : {"f64", "s64"}) {
    for (const char* op : {"add", "maximum", "multiply"}) {
      const std::string type_name = type, op_name = op;
      if (type_name == "s64" && op_name == "add") continue;  // digits
      ExpectSame(absl::Substitute(R"(HloModule m
f {
  a = $0[] parameter(0)
  b = $0[] parameter(1)
  ROOT r = $0[] $1(a, b)
}
ENTRY e {
  x = $0[9,5] parameter(0)
  u = $0[6,5] parameter(1)
  i = s32[6,1] constant({{3},{0},{3},{8},{9},{-1}})
  ROOT s = $0[9,5] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f
})",
                                  type, op),
                 "window-loops,x64-sum-expander,x64-elimination", &random);
    }
  }
}

}  // namespace
}  // namespace ptxla::hlo
