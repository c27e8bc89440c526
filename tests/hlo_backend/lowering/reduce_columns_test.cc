// Sums over rows beside what is stored, computed with many values of each
// column: as many columns at once as the registers hold.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/substitute.h"
#include "isa/from_chip_spec.h"
#include "isa/timing.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// The gradient of a normalisation over rows, of $0 x $1.
std::string Gradient(int64_t rows, int64_t columns) {
  return absl::Substitute(R"(HloModule m
g {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
f {
  x = bf16[$0,$1] parameter(0)
  d = bf16[$0,$1] parameter(1)
  a = f32[$1] parameter(2)
  b = f32[$1] parameter(3)
  c = f32[$1] parameter(4)
  e = f32[$1] parameter(5)
  h = f32[$1] parameter(6)
  i = f32[] constant(0)
  xf = f32[$0,$1] convert(x)
  df = f32[$0,$1] convert(d)
  as = f32[$0,$1] broadcast(a), dimensions={1}
  bs = f32[$0,$1] broadcast(b), dimensions={1}
  cs = f32[$0,$1] broadcast(c), dimensions={1}
  es = f32[$0,$1] broadcast(e), dimensions={1}
  hs = f32[$0,$1] broadcast(h), dimensions={1}
  n = f32[$0,$1] subtract(xf, as)
  o = f32[$0,$1] multiply(n, bs)
  p = f32[$0,$1] multiply(o, df)
  q = f32[$0,$1] multiply(df, cs)
  r = f32[$0,$1] multiply(o, es)
  s = f32[$0,$1] add(q, r)
  t = f32[$0,$1] add(s, hs)
  u = bf16[$0,$1] convert(t)
  v = f32[$1] reduce(p, i), dimensions={0}, to_apply=g
  w = f32[$1] reduce(df, i), dimensions={0}, to_apply=g
  ROOT k = (bf16[$0,$1], f32[$1], f32[$1]) tuple(u, v, w)
}
ENTRY e {
  x = bf16[$0,$1] parameter(0)
  d = bf16[$0,$1] parameter(1)
  a = f32[$1] parameter(2)
  b = f32[$1] parameter(3)
  c = f32[$1] parameter(4)
  e = f32[$1] parameter(5)
  h = f32[$1] parameter(6)
  k = (bf16[$0,$1], f32[$1], f32[$1]) fusion(x, d, a, b, c, e, h), kind=kInput, calls=f
  l = bf16[$0,$1] get-tuple-element(k), index=0
  m = f32[$1] get-tuple-element(k), index=1
  n = f32[$1] get-tuple-element(k), index=2
  ROOT o = (bf16[$0,$1], f32[$1], f32[$1]) tuple(l, m, n)
})",
                          rows, columns);
}

TEST(ReduceColumnsTest, SumsEqualTheEvaluator) {
  for (const char* chip : {"v2", "v4", "v5e", "v6e", "tpu7x"}) {
    HarnessOptions options;
    options.chip = chip;
    options.low = 0;  // sums of one sign: none loses digits
    for (const int64_t rows : {1, 7, 127, 129, 1000}) {
      EXPECT_OK(CompareKernel(Gradient(rows, 385), options).status())
          << chip << " " << rows;
    }
  }
}

TEST(ReduceColumnsTest, ValuesOfTheColumnsStayInRegisters) {
  HarnessOptions options;
  options.chip = "v4";  // of 32
  ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel,
                       KernelOf(Gradient(2048, 1024), options));
  const isa::MachineModel machine =
      isa::FromChipSpec(*chips::ChipSpec::Load("v4"));
  const double cycles = static_cast<double>(
      isa::TimeKernel(kernel, machine).UnstalledCycles(kernel));
  // A register takes 6.2 cycles; 8.8 with eight columns at once.
  EXPECT_LT(cycles / (2048 / 8 * 1024 / 128), 7) << kernel.note;
}

}  // namespace
}  // namespace ptxla::lowering
