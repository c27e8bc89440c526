// Reduces of rows and of columns of one iteration in one kernel: bundles
// against the evaluator.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/substitute.h"
#include "isa/peer_link.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// Of type $0 and dims $1: a product and its sum with a factor, reduced by $6
// over dimensions $2 to dims $3, and over the last, $4, to $5.
std::string Both(absl::string_view type, absl::string_view dims,
                 absl::string_view outer, absl::string_view columns,
                 absl::string_view last, absl::string_view rows,
                 absl::string_view op = "add", absl::string_view init = "0") {
  return absl::Substitute(R"(HloModule m
g {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] $6(x, y)
}
f {
  a = $0[$1] parameter(0)
  b = $0[$1] parameter(1)
  c = f32[$1] convert(a)
  d = f32[$1] convert(b)
  p = f32[$1] multiply(c, d)
  s = f32[$1] add(p, c)
  i = f32[] constant($7)
  u = f32[$3] reduce(p, i), dimensions={$2}, to_apply=g
  v = f32[$5] reduce(s, i), dimensions={$4}, to_apply=g
  ROOT t = (f32[$3], f32[$5], f32[$1]) tuple(u, v, s)
}
ENTRY e {
  a = $0[$1] parameter(0)
  b = $0[$1] parameter(1)
  ROOT r = (f32[$3], f32[$5], f32[$1]) fusion(a, b), kind=kInput, calls=f
})",
                          type, dims, outer, columns, last, rows, op, init);
}

TEST(RowsAndColumnsTest, AreReducedInOnePass) {
  for (const char* chip : {"v3", "v4", "v5e", "v5p", "v6e"}) {
    HarnessOptions options;
    options.chip = chip;
    for (const auto& text :
         {Both("f32", "64,256", "0", "256", "1", "64"),
          Both("bf16", "64,256", "0", "256", "1", "64"),
          Both("f32", "1000,384", "0", "384", "1", "1000"),
          // Ragged rows and columns.
          Both("f32", "37,200", "0", "200", "1", "37"),
          Both("bf16", "45,130", "0", "130", "1", "45"),
          Both("f32", "3,100", "0", "100", "1", "3"),
          // Planes.
          Both("f32", "4,20,256", "0,1", "256", "2", "4,20"),
          // From a start of its own.
          Both("f32", "64,256", "0", "256", "1", "64", "add", "2.5"),
          Both("f32", "64,256", "0", "256", "1", "64", "maximum", "-inf")}) {
      EXPECT_OK(CompareKernel(text, options).status()) << chip << text;
    }
  }
}

// The gradient of a bf16 scale: its sums are rounded as they are stored, two
// rows of them in a word.
TEST(RowsAndColumnsTest, ColumnsAreStoredInBf16) {
  const auto rounded = [](absl::string_view rows, absl::string_view columns) {
    return absl::Substitute(R"(HloModule m
g {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
f {
  a = bf16[$0,$1] parameter(0)
  b = bf16[$0,$1] parameter(1)
  c = f32[$0,$1] convert(a)
  d = f32[$0,$1] convert(b)
  p = f32[$0,$1] multiply(c, d)
  i = f32[] constant(0.5)
  u = f32[$1] reduce(p, i), dimensions={0}, to_apply=g
  n = bf16[$1] convert(u)
  v = f32[$0] reduce(p, i), dimensions={1}, to_apply=g
  ROOT t = (bf16[$1], f32[$0]) tuple(n, v)
}
ENTRY e {
  a = bf16[$0,$1] parameter(0)
  b = bf16[$0,$1] parameter(1)
  ROOT r = (bf16[$1], f32[$0]) fusion(a, b), kind=kInput, calls=f
})",
                            rows, columns);
  };
  for (const char* chip : {"v2", "v4", "v5e", "v5p", "v6e", "tpu7x"}) {
    HarnessOptions options;
    options.chip = chip;
    for (const auto& text :
         {rounded("64", "256"), rounded("127", "129"), rounded("7", "1000"),
          rounded("2048", "1152"), rounded("65", "3")}) {
      EXPECT_OK(CompareKernel(text, options).status()) << chip << text;
    }
  }
}

// The sums of columns go on from step to step, of rows and of columns. Of two
// cores each has those of its own rows and sends them to the other.
TEST(RowsAndColumnsTest, GoOnOverManySteps) {
  for (const char* chip : {"v4", "v5e", "v5p"}) {
    HarnessOptions options;
    options.chip = chip;
    for (const auto& text :
         {Both("f32", "2048,512", "0", "512", "1", "2048"),
          Both("f32", "16,70000", "0", "70000", "1", "16")}) {
      EXPECT_OK(CompareKernel(text, options).status()) << chip << text;
    }
  }
}

TEST(RowsAndColumnsTest, TwoCoresShareTheRows) {
  HarnessOptions options;
  options.chip = "v5p";
  ASSERT_OK_AND_ASSIGN(
      const HarnessResult result,
      CompareKernel(Both("f32", "4096,512", "0", "512", "1", "4096"), options));
  EXPECT_TRUE(isa::SendsToPeer(result.kernel));
}

}  // namespace
}  // namespace ptxla::lowering
