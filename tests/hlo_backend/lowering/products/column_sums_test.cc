// Products that add up their columns on the way: bundles against the evaluator.
#include <string>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

HarnessOptions WithSumsOn(const std::string& chip) {
  HarnessOptions options;
  options.chip = chip;
  options.low = -1;
  options.high = 1;
  options.absolute = 0.03;
  options.relative = 0.03;
  return options;
}

// A result in bf16 with the sums of its columns, beginning at 1, and of their
// squares. `head`: the dimensions of its rows.
std::string Statistics(const std::string& head, const std::string& reduced,
                       const std::string& product, int columns,
                       const std::string& operands) {
  return absl::Substitute(R"(HloModule m
sum { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT s = f32[] add(x, y) }
fused {
  $4
  d = f32[$0,$3] $2
  b = bf16[$0,$3] convert(d)
  one = f32[] constant(1)
  s = f32[$3] reduce(d, one), dimensions={$1}, to_apply=sum
  z = f32[] constant(0)
  q = f32[$0,$3] multiply(d, d)
  t = f32[$3] reduce(q, z), dimensions={$1}, to_apply=sum
  ROOT r = (f32[$3], bf16[$0,$3], f32[$3]) tuple(s, b, t)
}
ENTRY e {
  $4
  f = (f32[$3], bf16[$0,$3], f32[$3]) fusion(x, w), kind=kOutput, calls=fused
  a = f32[$3] get-tuple-element(f), index=0
  b = bf16[$0,$3] get-tuple-element(f), index=1
  c = f32[$3] get-tuple-element(f), index=2
  ROOT r = (f32[$3], bf16[$0,$3], f32[$3]) tuple(a, b, c)
})",
                          head, reduced, product, columns, operands);
}

std::string OfDot(int rows, int columns, int depth) {
  return Statistics(
      absl::StrCat(rows), "0",
      "dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}", columns,
      absl::Substitute("x = bf16[$0,$2] parameter(0)\n"
                       "w = bf16[$2,$1] parameter(1)",
                       rows, columns, depth));
}

std::string OfConvolution(int planes, int batch, int columns, int depth) {
  return Statistics(
      absl::StrCat(planes, ",", planes + 1, ",", batch), "0,1,2",
      "convolution(x, w), window={size=3x3 pad=1_1x1_1}, "
      "dim_labels=01bf_01io->01bf",
      columns,
      absl::Substitute("x = bf16[$0,$1,$2,$4] parameter(0)\n"
                       "w = bf16[3,3,$4,$3] parameter(1)",
                       planes, planes + 1, batch, columns, depth));
}

absl::StatusOr<chips::ChipSpec> WithVmem(const std::string& chip,
                                         int64_t bytes) {
  ASSIGN_OR_RETURN(const auto whole, chips::ChipSpec::Load(chip));
  return whole.WithValue("vmem.scoped_limit", static_cast<double>(bytes));
}

TEST(ColumnSumsTest, RowsOfOneStep) {
  for (const char* chip : kAllChips) {
    for (const int rows : {1, 8, 13, 100, 128}) {
      EXPECT_OK(CompareKernel(OfDot(rows, 200, 64), WithSumsOn(chip)).status())
          << chip << rows;
    }
  }
}

// The last step has fewer rows, and so have the last columns.
TEST(ColumnSumsTest, StepsOfRowsColumnsAndDepth) {
  for (const char* chip : kAllChips) {
    ASSERT_OK_AND_ASSIGN(const auto spec, WithVmem(chip, 1 << 20));
    HarnessOptions options = WithSumsOn(chip);
    options.spec = &spec;
    for (const int rows : {600, 1000}) {
      EXPECT_OK(CompareKernel(OfDot(rows, 300, 96), options).status())
          << chip << rows;
      EXPECT_OK(CompareKernel(OfDot(rows, 1100, 700), options).status())
          << chip << rows;
    }
  }
}

TEST(ColumnSumsTest, BoxesOfAConvolution) {
  for (const char* chip : kAllChips) {
    for (const int batch : {3, 8, 16, 19}) {
      EXPECT_OK(
          CompareKernel(OfConvolution(5, batch, 136, 24), WithSumsOn(chip))
              .status())
          << chip << batch;
    }
  }
}

TEST(ColumnSumsTest, AConvolutionInSteps) {
  for (const char* chip : {"v4", "v5e", "v6e"}) {
    ASSERT_OK_AND_ASSIGN(const auto spec, WithVmem(chip, 1 << 20));
    HarnessOptions options = WithSumsOn(chip);
    options.spec = &spec;
    for (const int batch : {5, 16, 37}) {
      EXPECT_OK(
          CompareKernel(OfConvolution(11, batch, 64, 64), options).status())
          << chip << batch;
    }
  }
}

TEST(ColumnSumsTest, ResultsInVmem) {
  for (const char* chip : {"v5e", "v6e"}) {
    HarnessOptions options = WithSumsOn(chip);
    options.in_vmem = {0, 2, 3, 4};
    EXPECT_OK(CompareKernel(OfDot(264, 256, 64), options).status()) << chip;
    EXPECT_OK(CompareKernel(OfConvolution(6, 12, 64, 64), options).status())
        << chip;
  }
}

// A gradient: what is summed reads arrays of the result's shape, and nothing
// else is stored.
TEST(ColumnSumsTest, OfProductsWithAnotherArrayAlone) {
  for (const char* chip : kAllChips) {
    EXPECT_OK(CompareKernel(R"(HloModule m
sum { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT s = f32[] add(x, y) }
fused {
  x = bf16[77,64] parameter(0)
  w = bf16[64,256] parameter(1)
  o = bf16[77,256] parameter(2)
  c = f32[256] parameter(3)
  d = f32[77,256] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  z = f32[] constant(0)
  f = f32[77,256] convert(o)
  cb = f32[77,256] broadcast(c), dimensions={1}
  g = f32[77,256] subtract(f, cb)
  q = f32[77,256] multiply(d, g)
  ROOT t = f32[256] reduce(q, z), dimensions={0}, to_apply=sum
}
ENTRY e {
  x = bf16[77,64] parameter(0)
  w = bf16[64,256] parameter(1)
  o = bf16[77,256] parameter(2)
  c = f32[256] parameter(3)
  ROOT f = f32[256] fusion(x, w, o, c), kind=kOutput, calls=fused
})",
                            WithSumsOn(chip))
                  .status())
        << chip;
  }
}

// The largest of each column and the smallest: rows beyond the array are none.
TEST(ColumnSumsTest, ExtremaOfColumns) {
  for (const char* chip : kAllChips) {
    ASSERT_OK_AND_ASSIGN(const auto spec, WithVmem(chip, 1 << 20));
    HarnessOptions options = WithSumsOn(chip);
    options.spec = &spec;
    for (const int rows : {13, 1000}) {
      EXPECT_OK(CompareKernel(absl::Substitute(R"(HloModule m
largest { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT s = f32[] maximum(x, y) }
smallest { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT s = f32[] minimum(x, y) }
fused {
  x = bf16[$0,96] parameter(0)
  w = bf16[96,300] parameter(1)
  d = f32[$0,300] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  none = f32[] constant(-inf)
  l = f32[300] reduce(d, none), dimensions={0}, to_apply=largest
  all = f32[] constant(inf)
  s = f32[300] reduce(d, all), dimensions={0}, to_apply=smallest
  ROOT t = (f32[300], f32[300]) tuple(l, s)
}
ENTRY e {
  x = bf16[$0,96] parameter(0)
  w = bf16[96,300] parameter(1)
  ROOT f = (f32[300], f32[300]) fusion(x, w), kind=kOutput, calls=fused
})",
                                               rows),
                              options)
                    .status())
          << chip << rows;
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
