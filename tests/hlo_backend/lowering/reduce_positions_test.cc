// Where the maxima of an array lie (argmax): bundles against the evaluator.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// Where the maximum of type, dims, over one dimension lies first; `kept`: the
// other dimensions, `result`: their sizes. `both`: the maximum is a result too.
std::string Argmax(absl::string_view type, absl::string_view dims,
                   absl::string_view over, absl::string_view kept,
                   absl::string_view result, bool both = false,
                   absl::string_view op = "maximum",
                   absl::string_view init = "-inf") {
  const bool floats = type == "f32" || type == "bf16";
  return absl::StrReplaceAll(
      R"(HloModule m
most {
  x = TYPE[] parameter(0)
  y = TYPE[] parameter(1)
  ROOT z = TYPE[] OP(x, y)
}
least {
  x = s32[] parameter(0)
  y = s32[] parameter(1)
  ROOT z = s32[] minimum(x, y)
}
f {
  a = TYPE[DIMS] parameter(0)
  i = TYPE[] constant(INIT)
  last = s32[] constant(2147483647)
  index = s32[DIMS] iota(), iota_dimension=OVER
  best = TYPE[RESULT] reduce(a, i), dimensions={OVER}, to_apply=most
  again = TYPE[DIMS] broadcast(best), dimensions={KEPT}
  equal = pred[DIMS] compare(a, again), direction=EQ
  NAN
  lasts = s32[DIMS] broadcast(last), dimensions={}
  where = s32[DIMS] select(HIT, index, lasts)
  POSITION = s32[RESULT] reduce(where, last), dimensions={OVER}, to_apply=least
  ROOT
}
ENTRY e {
  a = TYPE[DIMS] parameter(0)
  ROOT r = SHAPE fusion(a), kind=kInput, calls=f
})",
      {{"POSITION", both ? "position" : "ROOT position"},
       {"  ROOT\n", both ? absl::Substitute("  ROOT r = ($0[$1], s32[$1]) "
                                            "tuple(best, position)\n",
                                            type, result)
                         : ""},
       {"SHAPE", both ? absl::Substitute("($0[$1], s32[$1])", type, result)
                      : absl::Substitute("s32[$0]", result)},
       {"NAN",
        floats ? absl::Substitute("nan = pred[$0] compare(a, a), direction=NE\n"
                                  "  hit = pred[$0] or(equal, nan)",
                                  dims)
               : ""},
       {"HIT", floats ? "hit" : "equal"},
       {"TYPE", type},
       {"DIMS", dims},
       {"OVER", over},
       {"KEPT", kept},
       {"RESULT", result},
       {"OP", op},
       {"INIT", init}});
}

// One pass over the array finds maxima and their places.
TEST(ReducePositionsTest, PositionsOfMaximaAreFoundOnTheWay) {
  for (const char* chip : {"v6e", "v5e", "v5p", "v4", "v2"}) {
    HarnessOptions options;
    options.chip = chip;
    for (const char* type : {"f32", "bf16"}) {
      for (const bool both : {false, true}) {
        for (const auto& text :
             {Argmax(type, "1000,257", "1", "0", "1000", both),
              Argmax(type, "129,1000", "0", "1", "1000", both),
              Argmax(type, "300,40", "1", "0", "300", both),
              Argmax(type, "5,9,130", "2", "0,1", "5,9", both),
              Argmax(type, "5,37,130", "1", "0,2", "5,130", both),
              Argmax(type, "19,16,130", "0", "1,2", "16,130", both)}) {
          EXPECT_OK(CompareKernel(text, options).status()) << chip << text;
        }
      }
    }
    for (const auto& text :
         {Argmax("f32", "5000", "0", "", ""),
          Argmax("f32", "300,40", "1", "0", "300", true, "minimum", "inf"),
          Argmax("f32", "300,40", "1", "0", "300", true, "maximum", "100"),
          Argmax("s32", "70,300", "1", "0", "70", false, "maximum",
                 "-2147483648"),
          Argmax("s32", "300,70", "0", "1", "70", true, "minimum",
                 "2147483647")}) {
      EXPECT_OK(CompareKernel(text, options).status()) << chip << text;
    }
  }
}

// The array is read once, in steps that share partial results where a row is
// longer than a step.
TEST(ReducePositionsTest, PositionsGoOnInTheNextStep) {
  for (const auto& text : {Argmax("f32", "30,100001", "1", "0", "30"),
                           Argmax("bf16", "30001,130", "0", "1", "130"),
                           Argmax("f32", "3000001", "0", "", "")}) {
    const auto result = CompareKernel(text);
    EXPECT_OK(result.status()) << text;
    EXPECT_TRUE(!result.ok() || result->kernel.NumSteps() > 1) << text;
  }
}

// NaN before all others, of equal values the first; where all are the least
// that there is, the first of all.
TEST(ReducePositionsTest, PositionsOfTiesAndNans) {
  for (const char* over : {"1", "0"}) {
    const bool rows = std::string(over) == "0";
    const std::string rounded = absl::StrReplaceAll(
        Argmax("f32", "300,500", over, rows ? "1" : "0", rows ? "500" : "300",
               true),
        {{"  a = f32[300,500] parameter(0)\n  i",
          "  x = f32[300,500] parameter(0)\n  l = f32[300,500] log(x)\n"
          "  a = f32[300,500] floor(l)\n  i"}});
    HarnessOptions options;
    EXPECT_OK(CompareKernel(rounded, options).status()) << rounded;
    options.low = 0;  // no NaN
    EXPECT_OK(CompareKernel(rounded, options).status()) << rounded;
    const double least = -2147483648.0;
    options.low = options.high = least;
    for (const auto& text : {Argmax("s32", "20,100001", "1", "0", "20", false,
                                    "maximum", "-2147483648"),
                             Argmax("s32", "100001,20", "0", "1", "20", false,
                                    "maximum", "-2147483648")}) {
      EXPECT_OK(CompareKernel(text, options).status()) << text;
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
