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

// Cycles for each register of an array, without waits for memory.
double CyclesOfRegister(const char* chip, const std::string& hlo,
                        double elements) {
  HarnessOptions options;
  options.chip = chip;
  const auto kernel = KernelOf(hlo, options);
  EXPECT_OK(kernel.status());
  const isa::MachineModel machine =
      isa::FromChipSpec(*chips::ChipSpec::Load(chip));
  return static_cast<double>(
             isa::TimeKernel(*kernel, machine).UnstalledCycles(*kernel)) /
         (elements / 1024);
}

TEST(ReduceColumnsTest, ValuesOfTheColumnsStayInRegisters) {
  // A register takes 6.2 cycles; 8.8 with eight columns at once.
  EXPECT_LT(CyclesOfRegister("v4", Gradient(2048, 1024), 2048. * 1024), 7);
}

// The gradient of x * sigmoid(x) for sums of two products, with sums of four of
// its products over the rows.
std::string ActivationGradient() {
  return R"(HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
f {
  x = bf16[2048,1024] parameter(0)
  y = bf16[2048,1024] parameter(1)
  k0 = f32[1024] parameter(2)
  k1 = f32[1024] parameter(3)
  c0 = f32[2048,1024] broadcast(k0), dimensions={1}
  c1 = f32[2048,1024] broadcast(k1), dimensions={1}
  xf = f32[2048,1024] convert(x)
  yf = f32[2048,1024] convert(y)
  v0 = f32[2048,1024] multiply(xf, c0)
  v1 = f32[2048,1024] multiply(yf, c1)
  v = f32[2048,1024] add(v0, v1)
  one = f32[] constant(1)
  ones = f32[2048,1024] broadcast(one), dimensions={}
  n = f32[2048,1024] negate(v)
  ex = f32[2048,1024] exponential(n)
  den = f32[2048,1024] add(ones, ex)
  s = f32[2048,1024] divide(ones, den)
  r = f32[2048,1024] subtract(ones, s)
  vr = f32[2048,1024] multiply(v, r)
  w = f32[2048,1024] add(ones, vr)
  d = f32[2048,1024] multiply(s, w)
  p0 = f32[2048,1024] multiply(d, xf)
  p1 = f32[2048,1024] multiply(d, yf)
  p2 = f32[2048,1024] multiply(d, c0)
  p3 = f32[2048,1024] multiply(d, c1)
  o2 = bf16[2048,1024] convert(p2)
  o3 = bf16[2048,1024] convert(p3)
  z = f32[] constant(0)
  sum0 = f32[1024] reduce(p0, z), dimensions={0}, to_apply=sum
  sum1 = f32[1024] reduce(p1, z), dimensions={0}, to_apply=sum
  sum2 = f32[1024] reduce(p2, z), dimensions={0}, to_apply=sum
  sum3 = f32[1024] reduce(p3, z), dimensions={0}, to_apply=sum
  ROOT t = (bf16[2048,1024], bf16[2048,1024], f32[1024], f32[1024], f32[1024], f32[1024]) tuple(o2, o3, sum0, sum1, sum2, sum3)
}
ENTRY e {
  x = bf16[2048,1024] parameter(0)
  y = bf16[2048,1024] parameter(1)
  k0 = f32[1024] parameter(2)
  k1 = f32[1024] parameter(3)
  t = (bf16[2048,1024], bf16[2048,1024], f32[1024], f32[1024], f32[1024], f32[1024]) fusion(x, y, k0, k1), kind=kInput, calls=f
  t0 = bf16[2048,1024] get-tuple-element(t), index=0
  t1 = bf16[2048,1024] get-tuple-element(t), index=1
  t2 = f32[1024] get-tuple-element(t), index=2
  t3 = f32[1024] get-tuple-element(t), index=3
  t4 = f32[1024] get-tuple-element(t), index=4
  t5 = f32[1024] get-tuple-element(t), index=5
  ROOT r = (bf16[2048,1024], bf16[2048,1024], f32[1024], f32[1024], f32[1024], f32[1024]) tuple(t0, t1, t2, t3, t4, t5)
})";
}

// With as many columns at once as for a short formula the values of each wait
// for registers, 65 cycles on v6e.
TEST(ReduceColumnsTest, ALongFormulaTakesFewerColumnsAtOnce) {
  EXPECT_LT(CyclesOfRegister("v6e", ActivationGradient(), 2048. * 1024), 16);
}

// Squared distances of all pairs of points, whose three numbers are planes.
TEST(ReduceColumnsTest, RowsOfPlanesAreFoundOnce) {
  const std::string hlo = R"(HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
f {
  x = f32[3,4096] parameter(0)
  y = f32[3,4096] parameter(1)
  xs = f32[3,4096,4096] broadcast(x), dimensions={0,1}
  ys = f32[3,4096,4096] broadcast(y), dimensions={0,2}
  d = f32[3,4096,4096] subtract(xs, ys)
  s = f32[3,4096,4096] multiply(d, d)
  z = f32[] constant(0)
  ROOT r = f32[4096,4096] reduce(s, z), dimensions={0}, to_apply=sum
}
ENTRY e {
  x = f32[3,4096] parameter(0)
  y = f32[3,4096] parameter(1)
  ROOT r = f32[4096,4096] fusion(x, y), kind=kInput, calls=f
})";
  // libtpu's 4.4; 14 with the address of a row for each register of it.
  EXPECT_LT(CyclesOfRegister("v6e", hlo, 4096. * 4096), 6.5);
}

}  // namespace
}  // namespace ptxla::lowering
