// Products whose rows are finished in their kernel, with masks of sequences, of
// arrays and causal ones: bundles against the evaluator.
#include <string>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/hlo_backend/lowering/products/row_epilogue_cases.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// Scores in heads, masked by sequence (a row per batch member, repeated for its
// heads), by an array that all share, and causally; rows without a score are
// zero.
std::string Masked(int batch, int heads, int rows, int columns) {
  return absl::Substitute(R"(HloModule m
$4
all { x = pred[] parameter(0)
 y = pred[] parameter(1)
 no = pred[] constant(false)
 x1 = pred[] compare(x, no), direction=NE
 y1 = pred[] compare(y, no), direction=NE
 a = pred[] and(x1, y1)
 yes = pred[] constant(true)
 ROOT r = pred[] select(a, yes, no) }
fused {
  q = bf16[$0,$1,$2,64] parameter(0)
  k = bf16[$0,$1,$3,64] parameter(1)
  mask = f32[$0,$3] parameter(2)
  keep = pred[$2,$3] parameter(3)
  d = bf16[$0,$1,$2,$3] dot(q, k), lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_contracting_dims={3}
  df = f32[$0,$1,$2,$3] convert(d)
  mb = f32[$0,$1,$2,$3] broadcast(mask), dimensions={0,3}
  s = f32[$0,$1,$2,$3] add(df, mb)
  i = s32[$2,$3] iota(), iota_dimension=0
  j = s32[$2,$3] iota(), iota_dimension=1
  past = pred[$2,$3] compare(i, j), direction=GE
  some = pred[$0,$1,$2,$3] broadcast(past), dimensions={2,3}
  low = f32[] constant(-inf)
  lows = f32[$0,$1,$2,$3] broadcast(low), dimensions={}
  c = f32[$0,$1,$2,$3] select(some, s, lows)
  kb = pred[$0,$1,$2,$3] broadcast(keep), dimensions={2,3}
  c2 = f32[$0,$1,$2,$3] select(kb, c, lows)
  none = pred[$0,$1,$2,$3] compare(c2, lows), direction=EQ
  yes = pred[] constant(true)
  empty = pred[$0,$1,$2] reduce(none, yes), dimensions={3}, to_apply=all
  eb = pred[$0,$1,$2,$3] broadcast(empty), dimensions={0,1,2}
  m = f32[$0,$1,$2] reduce(c2, low), dimensions={3}, to_apply=max
  m2 = f32[$0,$1,$2,$3] broadcast(m), dimensions={0,1,2}
  z = f32[$0,$1,$2,$3] subtract(c2, m2)
  e = f32[$0,$1,$2,$3] exponential(z)
  zero = f32[] constant(0)
  t = f32[$0,$1,$2] reduce(e, zero), dimensions={3}, to_apply=sum
  tb = f32[$0,$1,$2,$3] broadcast(t), dimensions={0,1,2}
  p = f32[$0,$1,$2,$3] divide(e, tb)
  zeros = f32[$0,$1,$2,$3] broadcast(zero), dimensions={}
  o = f32[$0,$1,$2,$3] select(eb, zeros, p)
  ROOT r = bf16[$0,$1,$2,$3] convert(o)
}
ENTRY e {
  q = bf16[$0,$1,$2,64] parameter(0)
  k = bf16[$0,$1,$3,64] parameter(1)
  mask = f32[$0,$3] parameter(2)
  keep = pred[$2,$3] parameter(3)
  ROOT f = bf16[$0,$1,$2,$3] fusion(q, k, mask, keep), kind=kOutput, calls=fused
})",
                          batch, heads, rows, columns, kReducers);
}

TEST(RowEpilogueMasksTest, MasksOfSequencesAndCausalOnesAreMadeInTheKernel) {
  for (const char* chip : kAllChips) {
    EXPECT_OK(CompareKernel(Masked(2, 3, 100, 130), On(chip)).status()) << chip;
    EXPECT_OK(CompareKernel(Masked(11, 2, 64, 128), On(chip)).status()) << chip;
  }
}

// More than a step holds: which rows and members a step has depends on it.
TEST(RowEpilogueMasksTest, MasksMoveWithTheGrid) {
  for (const char* chip : {"v3", "v4", "v6e"}) {
    EXPECT_OK(CompareKernel(Masked(3, 5, 256, 264), On(chip)).status()) << chip;
    EXPECT_OK(CompareKernel(Masked(1, 2, 600, 700), On(chip)).status()) << chip;
  }
}

}  // namespace
}  // namespace ptxla::lowering
