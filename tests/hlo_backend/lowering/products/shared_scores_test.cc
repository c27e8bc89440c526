// Attention of groups whose heads share their keys and values, keys first:
// scores whose columns are finished, and values times weights. Bundles against
// the evaluator.
#include <string>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/products/product_tolerance.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

struct Scores {
  int sequences, groups, heads, keys, queries, depth;
};

// exp(s - max) and its sums; the keys are [sequences, groups, keys, depth].
std::string Exponentials(const Scores& s) {
  return absl::Substitute(
      R"(HloModule m
max { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT m = f32[] maximum(x, y) }
sum { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT s = f32[] add(x, y) }
fused {
  k = bf16[$0,$1,$3,$5] parameter(0)
  q = bf16[$0,$1,$2,$4,$5] parameter(1)
  kb = bf16[$0,$1,$2,$3,$5] broadcast(k), dimensions={0,1,3,4}
  d = f32[$0,$1,$2,$3,$4] dot(kb, q), lhs_batch_dims={0,1,2}, rhs_batch_dims={0,1,2}, lhs_contracting_dims={4}, rhs_contracting_dims={4}
  low = f32[] constant(-inf)
  m = f32[$0,$1,$2,$4] reduce(d, low), dimensions={3}, to_apply=max
  mb = f32[$0,$1,$2,$3,$4] broadcast(m), dimensions={0,1,2,4}
  z = f32[$0,$1,$2,$3,$4] subtract(d, mb)
  e = f32[$0,$1,$2,$3,$4] exponential(z)
  zero = f32[] constant(0)
  t = f32[$0,$1,$2,$4] reduce(e, zero), dimensions={3}, to_apply=sum
  ROOT r = (f32[$0,$1,$2,$4], f32[$0,$1,$2,$3,$4]) tuple(t, e)
}
ENTRY e {
  k = bf16[$0,$1,$3,$5] parameter(0)
  q = bf16[$0,$1,$2,$4,$5] parameter(1)
  ROOT f = (f32[$0,$1,$2,$4], f32[$0,$1,$2,$3,$4]) fusion(k, q), kind=kOutput, calls=fused
})",
      s.sequences, s.groups, s.heads, s.keys, s.queries, s.depth);
}

// The values, which lie as [depth, keys], times e / t.
std::string Weighted(const Scores& s) {
  return absl::Substitute(
      R"(HloModule m
fused {
  v = bf16[$0,$1,$5,$3] parameter(0)
  e = f32[$0,$1,$2,$3,$4] parameter(1)
  t = f32[$0,$1,$2,$4] parameter(2)
  vb = bf16[$0,$1,$2,$5,$3] broadcast(v), dimensions={0,1,3,4}
  tb = f32[$0,$1,$2,$3,$4] broadcast(t), dimensions={0,1,2,4}
  p = f32[$0,$1,$2,$3,$4] divide(e, tb)
  w = bf16[$0,$1,$2,$3,$4] convert(p)
  ROOT o = bf16[$0,$1,$2,$5,$4] dot(vb, w), lhs_batch_dims={0,1,2}, rhs_batch_dims={0,1,2}, lhs_contracting_dims={4}, rhs_contracting_dims={3}
}
ENTRY e {
  v = bf16[$0,$1,$5,$3] parameter(0)
  e = f32[$0,$1,$2,$3,$4] parameter(1)
  t = f32[$0,$1,$2,$4] parameter(2)
  ROOT f = bf16[$0,$1,$2,$5,$4] fusion(v, e, t), kind=kOutput, calls=fused
})",
      s.sequences, s.groups, s.heads, s.keys, s.queries, s.depth);
}

constexpr Scores kScores[] = {
    {2, 2, 4, 64, 64, 32}, {3, 2, 3, 72, 130, 64}, {2, 1, 5, 300, 200, 20}};

TEST(SharedScoresTest, ColumnsAreFinished) {
  for (const char* chip : {"v3", "v4", "v5e", "v5p", "v6e", "tpu7x"}) {
    for (const Scores& s : kScores) {
      EXPECT_OK(CompareKernel(Exponentials(s), ProductOn(chip, 0.02)).status())
          << chip << " " << s.keys;
    }
  }
}

TEST(SharedScoresTest, ValuesTimesWeights) {
  for (const char* chip : {"v3", "v4", "v5e", "v5p", "v6e", "tpu7x"}) {
    HarnessOptions options = ProductOn(chip, 0.02);
    options.low = 0.5;
    for (const Scores& s : kScores) {
      EXPECT_OK(CompareKernel(Weighted(s), options).status())
          << chip << " " << s.keys;
    }
  }
}

// Steps have some of the heads and queries, the last ones fewer.
TEST(SharedScoresTest, InSteps) {
  for (const char* chip : {"v4", "v5e", "v6e"}) {
    ASSERT_OK_AND_ASSIGN(const auto whole, chips::ChipSpec::Load(chip));
    ASSERT_OK_AND_ASSIGN(const auto spec,
                         whole.WithValue("vmem.scoped_limit", 1 << 21));
    HarnessOptions options = ProductOn(chip, 0.02);
    options.spec = &spec;
    options.low = 0.5;
    const Scores s = {2, 2, 7, 200, 600, 64};
    EXPECT_OK(CompareKernel(Exponentials(s), options).status()) << chip;
    EXPECT_OK(CompareKernel(Weighted(s), options).status()) << chip;
  }
}

}  // namespace
}  // namespace ptxla::lowering
