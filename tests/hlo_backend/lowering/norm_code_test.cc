// Code of normalisations: values for each row and column beside the tiles that
// they scale, and sums that wait for themselves. Bundles of a step as in libtpu
// 0.0.42.1 on v6e.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "isa/from_chip_spec.h"
#include "isa/timing.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// Of a step on v6e, those that hold an instruction.
double StepBundles(const std::string& hlo) {
  auto kernel = KernelOf(hlo);
  EXPECT_OK(kernel.status());
  auto spec = chips::ChipSpec::Load("v6e");
  EXPECT_OK(spec.status());
  if (!kernel.ok() || !spec.ok()) return -1;
  const isa::KernelTiming timing =
      isa::TimeKernel(*kernel, isa::FromChipSpec(*spec));
  return static_cast<double>(timing.classes[0].profile.bundles);
}

void ExpectEqual(const std::string& hlo, const char* chip) {
  HarnessOptions options;
  options.chip = chip;
  options.low = 0.5;
  EXPECT_OK(CompareKernel(hlo, options).status()) << chip;
}

// (x - m) * s * g + b, with m and s of rows, g and b of columns, all of one
// type but f32 statistics.
std::string Affine(absl::string_view type, int rows, int columns) {
  return absl::Substitute(R"(HloModule m
f {
  x = $0[$1,$2] parameter(0)
  m = f32[$1] parameter(1)
  s = f32[$1] parameter(2)
  g = $0[$2] parameter(3)
  b = $0[$2] parameter(4)
  xf = f32[$1,$2] convert(x)
  mb = f32[$1,$2] broadcast(m), dimensions={0}
  sb = f32[$1,$2] broadcast(s), dimensions={0}
  gb = $0[$1,$2] broadcast(g), dimensions={1}
  bb = $0[$1,$2] broadcast(b), dimensions={1}
  gf = f32[$1,$2] convert(gb)
  bf = f32[$1,$2] convert(bb)
  d = f32[$1,$2] subtract(xf, mb)
  n = f32[$1,$2] multiply(d, sb)
  a = f32[$1,$2] multiply(n, gf)
  y = f32[$1,$2] add(a, bf)
  ROOT r = $0[$1,$2] convert(y)
}
ENTRY e {
  x = $0[$1,$2] parameter(0)
  m = f32[$1] parameter(1)
  s = f32[$1] parameter(2)
  g = $0[$2] parameter(3)
  b = $0[$2] parameter(4)
  ROOT r = $0[$1,$2] fusion(x, m, s, g, b), kind=kLoop, calls=f
})",
                          type, rows, columns);
}

TEST(NormCodeTest, PackedValuesOfColumnsAreUnpackedOnceForAllRowsOfAStep) {
  EXPECT_NEAR(StepBundles(Affine("bf16", 8192, 4096)) / 1973, 1, 0.1);
}

TEST(NormCodeTest, ValuesOfRowsGoThroughTheXluUnderTheArithmetic) {
  EXPECT_NEAR(StepBundles(Affine("bf16", 8192, 768)) / 1740, 1, 0.12);
}

TEST(NormCodeTest, RaggedRowsAndColumnsEqualTheEvaluator) {
  for (const char* chip : {"v3", "v5e", "v5p", "v6e", "tpu7x"}) {
    for (const char* type : {"bf16", "f16", "f32"}) {
      ExpectEqual(Affine(type, 1000, 4300), chip);
      ExpectEqual(Affine(type, 4100, 770), chip);
    }
  }
}

// x / broadcast(d): each row by its own norm. Or another operation.
std::string WithRows(absl::string_view operation, int rows, int columns) {
  return absl::Substitute(R"(HloModule m
f {
  x = f32[$0,$1] parameter(0)
  d = f32[$0] parameter(1)
  db = f32[$0,$1] broadcast(d), dimensions={0}
  ROOT r = f32[$0,$1] $2(x, db)
}
ENTRY e {
  x = f32[$0,$1] parameter(0)
  d = f32[$0] parameter(1)
  ROOT r = f32[$0,$1] fusion(x, d), kind=kLoop, calls=f
})",
                          rows, columns, operation);
}

TEST(NormCodeTest, DivisorsOfRowsAreInvertedInTheBody) {
  const double quotients = StepBundles(WithRows("divide", 16384, 512));
  EXPECT_LT(quotients, 1.1 * StepBundles(WithRows("multiply", 16384, 512)));
  for (const char* chip : {"v4", "v5e", "v6e"}) {
    ExpectEqual(WithRows("divide", 4200, 500), chip);
  }
}

// Squared deviations from the means of planes, summed up over their rows.
std::string Deviations(int planes, int rows, int columns) {
  return absl::Substitute(R"(HloModule m
g {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
f {
  x = f32[$0,$1,$2] parameter(0)
  m = f32[$0,$2] parameter(1)
  mb = f32[$0,$1,$2] broadcast(m), dimensions={0,2}
  d = f32[$0,$1,$2] subtract(x, mb)
  s = f32[$0,$1,$2] multiply(d, d)
  i = f32[] constant(0)
  ROOT r = f32[$0,$2] reduce(s, i), dimensions={1}, to_apply=g
}
ENTRY e {
  x = f32[$0,$1,$2] parameter(0)
  m = f32[$0,$2] parameter(1)
  ROOT r = f32[$0,$2] fusion(x, m), kind=kInput, calls=f
})",
                          planes, rows, columns);
}

TEST(NormCodeTest, SumsOfTwoPlanesTakeTurns) {
  EXPECT_NEAR(StepBundles(Deviations(8, 4096, 128)) / 1058, 1, 0.1);
  for (const char* chip : {"v3", "v5p", "v6e"}) {
    ExpectEqual(Deviations(6, 700, 100), chip);
    ExpectEqual(Deviations(5, 3000, 128), chip);
  }
}

// x * g, with a value for each plane: put on all lanes for many at once.
std::string Scaled(int planes) {
  return absl::Substitute(R"(HloModule m
f {
  x = f32[$0,32,128] parameter(0)
  g = f32[$0] parameter(1)
  gb = f32[$0,32,128] broadcast(g), dimensions={0}
  ROOT r = f32[$0,32,128] multiply(x, gb)
}
ENTRY e {
  x = f32[$0,32,128] parameter(0)
  g = f32[$0] parameter(1)
  ROOT r = f32[$0,32,128] fusion(x, g), kind=kLoop, calls=f
})",
                          planes);
}

// Planes summed up to a value each.
std::string Sums(int planes) {
  return absl::Substitute(R"(HloModule m
g {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
ENTRY e {
  x = f32[$0,24,100] parameter(0)
  i = f32[] constant(0)
  ROOT r = f32[$0] reduce(x, i), dimensions={1,2}, to_apply=g
})",
                          planes);
}

TEST(NormCodeTest, NumbersOfPlanesWithoutDivisorsAreNoSlower) {
  for (const auto& program : {Scaled, Sums}) {
    EXPECT_NEAR(StepBundles(program(257)) / StepBundles(program(256)), 1, 0.3);
    EXPECT_NEAR(StepBundles(program(131)) / StepBundles(program(128)), 1, 0.3);
    for (const char* chip : {"v3", "v5e", "v6e"}) {
      ExpectEqual(program(131), chip);
      ExpectEqual(program(19), chip);
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
