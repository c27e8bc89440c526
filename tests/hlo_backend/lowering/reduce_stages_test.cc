// Fusions that read again what they have reduced (a softmax): bundles against
// the evaluator.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// A softmax in one fusion: the sum needs the maximum, the result both.
std::string Softmax(absl::string_view dims, absl::string_view over,
                    absl::string_view result, absl::string_view kept) {
  return absl::Substitute(R"(HloModule m
g {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
h {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] maximum(x, y)
}
f {
  a = f32[$0] parameter(0)
  l = f32[] constant(-inf)
  i = f32[] constant(0)
  m = f32[$2] reduce(a, l), dimensions={$1}, to_apply=h
  n = f32[$0] broadcast(m), dimensions={$3}
  d = f32[$0] subtract(a, n)
  e = f32[$0] exponential(d)
  s = f32[$2] reduce(e, i), dimensions={$1}, to_apply=g
  t = f32[$0] broadcast(s), dimensions={$3}
  q = f32[$0] divide(e, t)
  ROOT r = (f32[$2], f32[$2], f32[$0]) tuple(m, s, q)
}
ENTRY e {
  a = f32[$0] parameter(0)
  ROOT r = (f32[$2], f32[$2], f32[$0]) fusion(a), kind=kInput, calls=f
})",
                          dims, over, result, kept);
}

TEST(ReduceStagesTest, ALaterStageReadsWhatAnEarlierReduced) {
  for (const auto& text :
       {Softmax("300,129", "1", "300", "0"),
        Softmax("300,129", "0", "129", "1"),
        Softmax("3,37,300", "2", "3,37", "0,1"),
        Softmax("3,37,300", "1", "3,300", "0,2"),
        Softmax("1001,1000", "1", "1001", "0"), Softmax("1000", "0", "", "")}) {
    EXPECT_OK(CompareKernel(text).status()) << text;
  }
}

// The softmax of bf16 alone: its maximum and its rounded sum are read inside.
std::string LoneSoftmax(absl::string_view dims, absl::string_view over,
                        absl::string_view result, absl::string_view kept) {
  return absl::Substitute(R"(HloModule m
g {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
h {
  x = bf16[] parameter(0)
  y = bf16[] parameter(1)
  ROOT z = bf16[] maximum(x, y)
}
f {
  a = bf16[$0] parameter(0)
  l = bf16[] constant(-inf)
  i = f32[] constant(0)
  m = bf16[$2] reduce(a, l), dimensions={$1}, to_apply=h
  n = bf16[$0] broadcast(m), dimensions={$3}
  d = bf16[$0] subtract(a, n)
  e = bf16[$0] exponential(d)
  w = f32[$0] convert(e)
  s = f32[$2] reduce(w, i), dimensions={$1}, to_apply=g
  u = bf16[$2] convert(s)
  t = bf16[$0] broadcast(u), dimensions={$3}
  ROOT q = bf16[$0] divide(e, t)
}
ENTRY e {
  a = bf16[$0] parameter(0)
  ROOT r = bf16[$0] fusion(a), kind=kInput, calls=f
})",
                          dims, over, result, kept);
}

TEST(ReduceStagesTest, RowsThatAreReadAgainAreTheOnlyResult) {
  for (const char* chip : {"v4", "v5e", "v6e", "tpu7x"}) {
    HarnessOptions options;
    options.chip = chip;
    for (const auto& text : {LoneSoftmax("3,37,300", "2", "3,37", "0,1"),
                             LoneSoftmax("3,37,300", "1", "3,300", "0,2"),
                             LoneSoftmax("3,37,300", "0", "37,300", "1,2"),
                             LoneSoftmax("8,256,512", "2", "8,256", "0,1")}) {
      EXPECT_OK(CompareKernel(text, options).status()) << chip << text;
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
