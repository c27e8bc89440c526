// What calls a body on 64-bit elements, or loops over columns of them, has a
// form on pairs of words that gives the same numbers.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/passes/pipeline.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

// Of a program of one parameter, its numbers from -40 (0) to 40, most of them
// not whole; a matrix that is to be factored gets a dominant diagonal.
void ExpectSameOnPairs(const std::string& text, double diagonal = 0) {
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(text));
  const Shape shape = module->entry()->parameter(0)->shape();
  Literal x(shape);
  uint64_t seed = 7;
  for (int64_t i = 0; i < x.ElementCount(); ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const double from = IsUnsigned(shape.type()) ? 0 : -40;
    x.SetDouble(i, from + static_cast<double>(seed >> 44) / 13107);
  }
  const int64_t n = shape.dim(shape.rank() - 1);
  for (int64_t d = 0; diagonal != 0 && d < n; ++d) {
    x.SetDouble(d * n + d, diagonal);
  }
  ASSERT_OK_AND_ASSIGN(const Literal expected, Evaluate(*module, {x}));
  ASSERT_OK_AND_ASSIGN(
      Pipeline p, Pipeline::FromNames("linear-algebra-expander,argmax-expander,"
                                      "x64-sum-expander,x64-elimination"));
  ASSERT_OK(p.Run(module.get(), {}).status()) << text;
  ASSERT_OK(VerifyModule(*module));
  ASSERT_OK_AND_ASSIGN(const Literal actual, Evaluate(*module, {x}));
  ASSERT_EQ(actual.shape().ToString(), expected.shape().ToString());
  for (int64_t i = 0; i < expected.ElementCount(); ++i) {
    const double e = expected.GetDouble(i);
    EXPECT_NEAR(actual.GetDouble(i), e, 1e-9 * std::max(1.0, std::abs(e)))
        << text << i;
  }
}

TEST(X64WindowsTest, RunningAndSlidingValues) {
  for (const char* type : {"f64", "s64", "u64"}) {
    for (const char* op : {"add", "maximum", "minimum"}) {
      for (const char* window :
           {"size=1x100 pad=0_0x99_0", "size=1x100 pad=0_0x0_99",
            "size=2x3 pad=0_1x1_1", "size=1x70 pad=0_0x40_29"}) {
        const std::string type_name = type, op_name = op;
        if (type_name == "u64" && op_name != "maximum") continue;
        const char* start = op_name == "add"       ? "0"
                            : type_name != "f64"   ? "7"
                            : op_name == "maximum" ? "-inf"
                                                   : "inf";
        ExpectSameOnPairs(absl::Substitute(R"(HloModule m
f {
  a = $0[] parameter(0)
  b = $0[] parameter(1)
  ROOT r = $0[] $1(a, b)
}
ENTRY e {
  x = $0[3,100] parameter(0)
  i = $0[] constant($2)
  ROOT w = $0[3,100] reduce-window(x, i), window={$3}, to_apply=f
})",
                                           type, op, start, window));
      }
    }
  }
}

// As argmax of JAX with 64-bit types, and of torch: positions are s64.
TEST(X64WindowsTest, PositionsOfTheGreatest) {
  for (const char* type : {"f32", "f64", "s64", "s32"}) {
    const bool is_float = type[0] == 'f';
    ExpectSameOnPairs(absl::Substitute(
        R"(HloModule m
f {
  a = $0[] parameter(0)
  ai = s64[] parameter(1)
  b = $0[] parameter(2)
  bi = s64[] parameter(3)
  more = pred[] compare(a, b), direction=GT
  v = $0[] select(more, a, b)
  same = pred[] compare(a, b), direction=EQ
  before = pred[] compare(ai, bi), direction=LT
  tie = pred[] and(same, before)
  first = pred[] or(more, tie)
  i = s64[] select(first, ai, bi)
  ROOT r = ($0[], s64[]) tuple(v, i)
}
ENTRY e {
  x = $0[5,300] parameter(0)
  row = s64[300] iota(), iota_dimension=0
  p = s64[5,300] broadcast(row), dimensions={1}
  least = $0[] constant($1)
  zero = s64[] constant(0)
  w = ($0[5], s64[5]) reduce(x, p, least, zero), dimensions={1}, to_apply=f
  ROOT r = s64[5] get-tuple-element(w), index=1
})",
        type, is_float ? "-inf" : "-2000000000"));
  }
}

TEST(X64WindowsTest, FactorsAndTriangularSystems) {
  ExpectSameOnPairs(R"(HloModule m
ENTRY e {
  x = f64[9,9] parameter(0)
  t = f64[9,9] transpose(x), dimensions={1,0}
  s = f64[9,9] add(x, t)
  ROOT r = f64[9,9] cholesky(s), lower=true
})",
                    2000);
  ExpectSameOnPairs(R"(HloModule m
ENTRY e {
  x = f64[9,9] parameter(0)
  b = f64[9,4] slice(x), slice={[0:9], [2:6]}
  ROOT r = f64[9,4] triangular-solve(x, b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE
})",
                    50);
}

}  // namespace
}  // namespace ptxla::hlo
