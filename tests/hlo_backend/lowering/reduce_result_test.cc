// What kernels make of finished reduces: results of another type, and of more
// arithmetic.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// f32 sums and maxima of $0 over dimensions $1, stored as bf16[$2].
std::string Stored(absl::string_view dims, absl::string_view over,
                   absl::string_view result) {
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
  a = bf16[$0] parameter(0)
  c = f32[$0] convert(a)
  i = f32[] constant(0)
  l = f32[] constant(-inf)
  s = f32[$2] reduce(c, i), dimensions={$1}, to_apply=g
  q = f32[$0] multiply(c, c)
  t = f32[$2] reduce(q, l), dimensions={$1}, to_apply=h
  u = f32[$2] reduce(q, i), dimensions={$1}, to_apply=g
  o = bf16[$2] convert(s)
  p = bf16[$2] convert(t)
  ROOT r = (bf16[$2], bf16[$2], f32[$2]) tuple(o, p, u)
}
ENTRY e {
  a = bf16[$0] parameter(0)
  ROOT r = (bf16[$2], bf16[$2], f32[$2]) fusion(a), kind=kInput, calls=f
})",
                          dims, over, result);
}

TEST(ReduceResultTest, F32ResultsMayBeStoredAsBf16) {
  for (const char* chip : {"v3", "v4", "v5e", "v6e", "tpu7x"}) {
    HarnessOptions options;
    options.chip = chip;
    for (const auto& text :
         {Stored("300,129", "1", "300"), Stored("300,129", "0", "129"),
          Stored("300,129", "0,1", ""), Stored("1000", "0", ""),
          Stored("7,127", "0", "127"), Stored("3,37,300", "2", "3,37"),
          Stored("3,37,300", "1", "3,300"), Stored("3,37,300", "0", "37,300"),
          Stored("3001,1000", "0", "1000"), Stored("3001,1000", "1", "3001"),
          Stored("40,129,7", "1,2", "40"), Stored("129,7,20", "1,2", "129"),
          Stored("1000,1,7", "1,2", "1000")}) {
      EXPECT_OK(CompareKernel(text, options).status()) << chip << text;
    }
  }
}

// Planes of $0 rows, made in tiles of 8, whose sums are $1 in tiles of fewer
// rows: which slot of which expert a token takes.
std::string FewRows(int rows, absl::string_view type) {
  return absl::Substitute(R"(HloModule m
g {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
f {
  a = f32[2,40,$0] parameter(0)
  b = f32[2,40,150] parameter(1)
  c = f32[2,40,$0,150] broadcast(a), dimensions={0,1,2}
  d = f32[2,40,$0,150] broadcast(b), dimensions={0,1,3}
  m = f32[2,40,$0,150] multiply(c, d)
  i = f32[] constant(0)
  s = f32[40,$0,150] reduce(m, i), dimensions={0}, to_apply=g
  ROOT o = $1[40,$0,150] convert(s)
}
ENTRY e {
  a = f32[2,40,$0] parameter(0)
  b = f32[2,40,150] parameter(1)
  ROOT o = $1[40,$0,150] fusion(a, b), kind=kInput, calls=f
})",
                          rows, type);
}

TEST(ReduceResultTest, SumsOfFewRowsAreStoredInTilesOfFewRows) {
  for (const char* chip : {"v3", "v4", "v5e", "v6e", "tpu7x"}) {
    HarnessOptions options;
    options.chip = chip;
    for (const int rows : {2, 3, 4, 7, 8}) {
      for (const char* type : {"f32", "bf16"}) {
        EXPECT_OK(CompareKernel(FewRows(rows, type), options).status())
            << chip << " " << rows << " rows of " << type;
      }
    }
  }
}

// Planes that become a number each wait for the XLU together.
TEST(ReduceResultTest, ElementsOfSeveralPlanesAreFinishedAtOnce) {
  for (const char* chip : {"v4", "v5e", "v6e"}) {
    HarnessOptions options;
    options.chip = chip;
    options.in_vmem = {0, 2};
    ASSERT_OK_AND_ASSIGN(const HarnessResult result,
                         CompareKernel(R"(HloModule m
g {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
ENTRY e {
  a = f32[256,64,64] parameter(0)
  i = f32[] constant(0)
  ROOT s = f32[256] reduce(a, i), dimensions={1,2}, to_apply=g
})",
                                       options));
    EXPECT_LT(result.cycles, 60 * 256) << chip << " " << result.cycles;
  }
}

// A reduction whose result goes through more arithmetic: $0 dims, $1 reduced,
// $2 result dims.
std::string Mean(absl::string_view dims, absl::string_view over,
                 absl::string_view result) {
  return absl::Substitute(R"(HloModule m
g {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
f {
  a = bf16[$0] parameter(0)
  w = f32[$2] parameter(1)
  n = f32[] parameter(2)
  c = f32[$0] convert(a)
  i = f32[] constant(0)
  s = f32[$2] reduce(c, i), dimensions={$1}, to_apply=g
  q = f32[$0] multiply(c, c)
  t = f32[$2] reduce(q, i), dimensions={$1}, to_apply=g
  k = f32[$2] broadcast(n), dimensions={}
  d = f32[$2] divide(s, k)
  e = f32[$2] add(d, w)
  o = bf16[$2] convert(e)
  u = f32[$2] subtract(t, e)
  ROOT r = (bf16[$2], f32[$2], f32[$2]) tuple(o, u, s)
}
ENTRY e {
  a = bf16[$0] parameter(0)
  w = f32[$2] parameter(1)
  n = f32[] parameter(2)
  ROOT r = (bf16[$2], f32[$2], f32[$2]) fusion(a, w, n), kind=kInput, calls=f
})",
                          dims, over, result);
}

TEST(ReduceResultTest, TheEpilogueSeesFinishedSums) {
  HarnessOptions options;
  options.low = 0.5;
  for (const auto& text :
       {Mean("300,129", "1", "300"), Mean("300,129", "0", "129"),
        Mean("300,129", "0,1", ""), Mean("3,37,300", "2", "3,37"),
        Mean("3,37,300", "1", "3,300"), Mean("3001,1000", "0", "1000"),
        Mean("3001,1000", "1", "3001")}) {
    EXPECT_OK(CompareKernel(text, options).status()) << text;
  }
}

}  // namespace
}  // namespace ptxla::lowering
