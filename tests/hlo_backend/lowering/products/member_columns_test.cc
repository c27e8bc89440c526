// Products with a batch that reduce the rows of each member, and such whose
// weights are computed from a value per column of each member: attention with
// its keys in the rows. Bundles against the evaluator.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/products/product_tolerance.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

struct Scores {
  std::string batch;  // dimensions
  int keys, queries, depth;
};

std::string BatchNumbers(const Scores& s) {
  return s.batch.find(',') == std::string::npos ? "0" : "0,1";
}

// The scores, with the maxima of what is made of them, not below `start`, and
// the sums of their squares. Keys and queries lie as [depth, sequence].
std::string Statistics(const Scores& s, const std::string& type,
                       const std::string& start) {
  const std::string operands = absl::Substitute(
      R"(k = $4[$0,$3,$1] parameter(0)
  q = $4[$0,$3,$2] parameter(1))",
      s.batch, s.keys, s.queries, s.depth, type);
  const std::string b = BatchNumbers(s);
  const std::string of_depth = b == "0" ? "1" : "2";
  return absl::Substitute(
      R"(HloModule m
max { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT m = f32[] maximum(x, y) }
sum { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT s = f32[] add(x, y) }
fused {
  $3
  d = f32[$0,$1,$2] dot(k, q), lhs_batch_dims={$4}, rhs_batch_dims={$4}, lhs_contracting_dims={$5}, rhs_contracting_dims={$5}
  c = f32[] constant(-0.5)
  cb = f32[$0,$1,$2] broadcast(c), dimensions={}
  l = f32[$0,$1,$2] multiply(d, cb)
  low = f32[] constant($6)
  m = f32[$0,$2] reduce(l, low), dimensions={$5}, to_apply=max
  z = f32[] constant(0)
  p = f32[$0,$1,$2] multiply(d, d)
  t = f32[$0,$2] reduce(p, z), dimensions={$5}, to_apply=sum
  ROOT r = (f32[$0,$2], f32[$0,$1,$2], f32[$0,$2]) tuple(m, d, t)
}
ENTRY e {
  $3
  f = (f32[$0,$2], f32[$0,$1,$2], f32[$0,$2]) fusion(k, q), kind=kOutput, calls=fused
  a = f32[$0,$2] get-tuple-element(f), index=0
  b = f32[$0,$1,$2] get-tuple-element(f), index=1
  c = f32[$0,$2] get-tuple-element(f), index=2
  ROOT r = (f32[$0,$2], f32[$0,$1,$2], f32[$0,$2]) tuple(a, b, c)
})",
      s.batch, s.keys, s.queries, operands, b, of_depth, start);
}

// exp(s - max) of scores s times a mask of each member, and its sums.
std::string Softmax(const Scores& s, const std::string& type) {
  const std::string b = BatchNumbers(s);
  const std::string over = b == "0" ? "1" : "2";
  const std::string columns = b == "0" ? "0,2" : "0,1,3";
  return absl::Substitute(
      R"(HloModule m
max { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT m = f32[] maximum(x, y) }
sum { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT s = f32[] add(x, y) }
fused {
  k = bf16[$0,$1,$3] parameter(0)
  q = bf16[$0,$2,$3] parameter(1)
  a = f32[$0,$1,$2] parameter(2)
  d = f32[$0,$1,$2] dot(k, q), lhs_batch_dims={$4}, rhs_batch_dims={$4}, lhs_contracting_dims={$8}, rhs_contracting_dims={$8}
  l = f32[$0,$1,$2] multiply(d, a)
  low = f32[] constant(-inf)
  m = f32[$0,$2] reduce(l, low), dimensions={$5}, to_apply=max
  mb = f32[$0,$1,$2] broadcast(m), dimensions={$6}
  z = f32[$0,$1,$2] subtract(l, mb)
  e = f32[$0,$1,$2] exponential(z)
  start = f32[] constant(0.5)
  t = f32[$0,$2] reduce(e, start), dimensions={$5}, to_apply=sum
  w = $7[$0,$1,$2] convert(e)
  ROOT r = (f32[$0,$2], $7[$0,$1,$2]) tuple(t, w)
}
ENTRY e {
  k = bf16[$0,$1,$3] parameter(0)
  q = bf16[$0,$2,$3] parameter(1)
  a = f32[$0,$1,$2] parameter(2)
  ROOT f = (f32[$0,$2], $7[$0,$1,$2]) fusion(k, q, a), kind=kOutput, calls=fused
})",
      s.batch, s.keys, s.queries, s.depth, b, over, columns, type,
      b == "0" ? 2 : 3);
}

// Values times the weights exp(s - max) / sum.
std::string Weighted(const Scores& s) {
  const std::string operands = absl::Substitute(
      R"(v = bf16[$0,$3,$1] parameter(0)
  s = f32[$0,$1,$2] parameter(1)
  m = f32[$0,$2] parameter(2)
  t = f32[$0,$2] parameter(3))",
      s.batch, s.keys, s.queries, s.depth);
  const std::string b = BatchNumbers(s);
  const int rank = b == "0" ? 1 : 2;
  return absl::Substitute(
      R"(HloModule m
fused {
  $4
  mb = f32[$0,$1,$2] broadcast(m), dimensions={$5,$7}
  z = f32[$0,$1,$2] subtract(s, mb)
  e = f32[$0,$1,$2] exponential(z)
  tb = f32[$0,$1,$2] broadcast(t), dimensions={$5,$7}
  p = f32[$0,$1,$2] divide(e, tb)
  w = bf16[$0,$1,$2] convert(p)
  ROOT o = bf16[$0,$3,$2] dot(v, w), lhs_batch_dims={$5}, rhs_batch_dims={$5}, lhs_contracting_dims={$7}, rhs_contracting_dims={$6}
}
ENTRY e {
  $4
  ROOT f = bf16[$0,$3,$2] fusion(v, s, m, t), kind=kOutput, calls=fused
})",
      s.batch, s.keys, s.queries, s.depth, operands, b, rank, rank + 1);
}

// Sums over the keys of dP P, with scores in bf16, their maxima and the
// inverted sums of their exponentials: what the gradient of a softmax needs.
std::string GradientSums(const Scores& s) {
  const std::string operands = absl::Substitute(
      R"(v = bf16[$0,$3,$1] parameter(0)
  g = bf16[$0,$3,$2] parameter(1)
  s = bf16[$0,$1,$2] parameter(2)
  m = f32[$0,$2] parameter(3)
  i = f32[$0,$2] parameter(4))",
      s.batch, s.keys, s.queries, s.depth);
  const std::string b = BatchNumbers(s);
  const int rank = b == "0" ? 1 : 2;
  return absl::Substitute(
      R"(HloModule m
sum { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT s = f32[] add(x, y) }
fused {
  $3
  d = bf16[$0,$1,$2] dot(v, g), lhs_batch_dims={$4}, rhs_batch_dims={$4}, lhs_contracting_dims={$5}, rhs_contracting_dims={$5}
  dw = f32[$0,$1,$2] convert(d)
  ib = f32[$0,$1,$2] broadcast(i), dimensions={$4,$6}
  di = f32[$0,$1,$2] multiply(dw, ib)
  sw = f32[$0,$1,$2] convert(s)
  mb = f32[$0,$1,$2] broadcast(m), dimensions={$4,$6}
  z = f32[$0,$1,$2] subtract(sw, mb)
  e = f32[$0,$1,$2] exponential(z)
  p = f32[$0,$1,$2] multiply(di, e)
  zero = f32[] constant(0)
  t = f32[$0,$2] reduce(p, zero), dimensions={$5}, to_apply=sum
  ROOT r = (f32[$0,$2], bf16[$0,$1,$2]) tuple(t, d)
}
ENTRY e {
  $3
  ROOT f = (f32[$0,$2], bf16[$0,$1,$2]) fusion(v, g, s, m, i), kind=kOutput, calls=fused
})",
      s.batch, s.keys, s.queries, operands, b, rank, rank + 1);
}

absl::StatusOr<chips::ChipSpec> WithVmem(const std::string& chip,
                                         int64_t bytes) {
  ASSIGN_OR_RETURN(const auto whole, chips::ChipSpec::Load(chip));
  return whole.WithValue("vmem.scoped_limit", static_cast<double>(bytes));
}

TEST(MemberColumnsTest, RowsOfEachMemberAreReduced) {
  for (const char* chip : kAllChips) {
    for (const Scores& s :
         {Scores{"2,3", 64, 64, 16}, Scores{"5,4", 7, 129, 20},
          Scores{"1,1", 129, 7, 64}, Scores{"9", 100, 300, 32}}) {
      EXPECT_OK(
          CompareKernel(Statistics(s, "bf16", "-inf"), ProductOn(chip, 0.02))
              .status())
          << chip << " " << s.batch;
    }
    EXPECT_OK(CompareKernel(Statistics({"3,2", 40, 200, 24}, "f32", "0.25"),
                            ProductOn(chip, 0.02))
                  .status())
        << chip;
  }
}

TEST(MemberColumnsTest, WorkGoesOnWithWhatWholeColumnsReduceTo) {
  for (const char* chip : kAllChips) {
    for (const Scores& s :
         {Scores{"2,3", 64, 64, 16}, Scores{"5,4", 7, 129, 20},
          Scores{"1,1", 129, 7, 64}, Scores{"9", 1, 300, 32},
          Scores{"2", 127, 1000, 24}, Scores{"1,2", 1000, 127, 64}}) {
      EXPECT_OK(
          CompareKernel(Softmax(s, "f32"), ProductOn(chip, 0.02)).status())
          << chip << " " << s.batch << " " << s.keys;
    }
    EXPECT_OK(CompareKernel(Softmax({"3,2", 40, 200, 24}, "bf16"),
                            ProductOn(chip, 0.02))
                  .status())
        << chip;
  }
}

// Each step has all keys of its queries.
TEST(MemberColumnsTest, WholeColumnsInSteps) {
  for (const char* chip : {"v3", "v4", "v5e", "v5p", "v6e"}) {
    ASSERT_OK_AND_ASSIGN(const auto spec, WithVmem(chip, 1 << 21));
    HarnessOptions options = ProductOn(chip, 0.02);
    options.spec = &spec;
    for (const Scores& s :
         {Scores{"7,3", 100, 130, 32}, Scores{"3", 300, 600, 64},
          Scores{"37,1", 16, 1024, 16}}) {
      EXPECT_OK(CompareKernel(Softmax(s, "f32"), options).status())
          << chip << " " << s.batch;
    }
  }
}

// Steps have some of the rows, columns and members, the last ones fewer.
TEST(MemberColumnsTest, InSteps) {
  for (const char* chip : {"v3", "v4", "v5e", "v5p", "v6e"}) {
    ASSERT_OK_AND_ASSIGN(const auto spec, WithVmem(chip, 1 << 20));
    HarnessOptions options = ProductOn(chip, 0.02);
    options.spec = &spec;
    for (const Scores& s :
         {Scores{"7,3", 100, 130, 32}, Scores{"3", 1100, 600, 64},
          Scores{"2,2", 2000, 200, 16}, Scores{"8", 1100, 600, 64},
          Scores{"37,1", 16, 1024, 16}, Scores{"31", 200, 256, 32}}) {
      EXPECT_OK(CompareKernel(Statistics(s, "bf16", "0.25"), options).status())
          << chip << " " << s.batch;
    }
  }
}

TEST(MemberColumnsTest, ResultsInVmem) {
  for (const char* chip : {"v4", "v5e", "v5p", "v6e"}) {
    HarnessOptions options = ProductOn(chip, 0.02);
    options.in_vmem = {0, 2, 3, 4};
    for (const Scores& s :
         {Scores{"3,3", 72, 136, 16}, Scores{"16,4", 72, 136, 16}}) {
      EXPECT_OK(CompareKernel(Statistics(s, "bf16", "-inf"), options).status())
          << chip << " " << s.batch;
    }
  }
}

// Two cores share members, whose results lie in one plane of tiles or in
// several, or columns; each stores its own part. Where parts would share a
// tile, one core makes all.
TEST(MemberColumnsTest, CoresShareAllButRows) {
  for (const char* chip : {"v4", "v5p"}) {
    ASSERT_OK_AND_ASSIGN(const auto spec, WithVmem(chip, 1 << 20));
    HarnessOptions options = ProductOn(chip, 0.02);
    options.spec = &spec;
    for (const Scores& s :
         {Scores{"32", 200, 256, 32}, Scores{"16,3", 200, 200, 32},
          Scores{"1", 2000, 1000, 32}, Scores{"1,2", 2000, 2100, 64}}) {
      const std::string text = Statistics(s, "bf16", "0.25");
      EXPECT_OK(CompareKernel(text, options).status())
          << chip << " " << s.batch;
      ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel, KernelOf(text, options));
      EXPECT_GE(kernel.megacore_dim, 0) << chip << " " << s.batch;
    }
    const std::string text = Statistics({"3", 2000, 100, 16}, "bf16", "0.25");
    EXPECT_OK(CompareKernel(text, options).status()) << chip;
    ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel, KernelOf(text, options));
    EXPECT_LT(kernel.megacore_dim, 0) << chip;
  }
}

// Keys lie as [depth, sequence] and are turned in the first step of a member's
// queries: the others have code of their own, and addresses.
TEST(MemberColumnsTest, TurnedKeysStayForOtherSteps) {
  for (const char* chip : {"v3", "v4", "v5e", "v5p", "v6e"}) {
    ASSERT_OK_AND_ASSIGN(const auto spec, WithVmem(chip, 1 << 20));
    // The evaluator rounds each term of a sum to bf16.
    HarnessOptions options = ProductOn(chip, 0.4);
    options.spec = &spec;
    for (const Scores& s :
         {Scores{"4,8", 128, 256, 16}, Scores{"3,5", 127, 1000, 32}}) {
      EXPECT_OK(CompareKernel(GradientSums(s), options).status())
          << chip << " " << s.batch;
    }
  }
}

TEST(MemberColumnsTest, WeightsOfValuesPerColumn) {
  for (const char* chip : kAllChips) {
    HarnessOptions options = ProductOn(chip, 0.02);
    options.low = 0.5;
    for (const Scores& s :
         {Scores{"2,3", 64, 64, 16}, Scores{"5,4", 7, 129, 20},
          Scores{"1,1", 129, 7, 64}, Scores{"9", 100, 300, 32},
          Scores{"3,12", 256, 256, 8}}) {
      EXPECT_OK(CompareKernel(Weighted(s), options).status())
          << chip << " " << s.batch;
    }
  }
}

TEST(MemberColumnsTest, WeightsInSteps) {
  for (const char* chip : {"v4", "v5e", "v6e"}) {
    ASSERT_OK_AND_ASSIGN(const auto spec, WithVmem(chip, 1 << 20));
    HarnessOptions options = ProductOn(chip, 0.02);
    options.low = 0.5;
    options.spec = &spec;
    for (const Scores& s :
         {Scores{"5,3", 130, 260, 32}, Scores{"4,12", 64, 64, 16}}) {
      EXPECT_OK(CompareKernel(Weighted(s), options).status())
          << chip << " " << s.batch;
    }
  }
}

// One division for all rows of a member's columns: of 256 x 256 scores in 32
// members, two functions for each of them would be 4,096 cycles of the EUP.
TEST(MemberColumnsTest, ColumnsAreInvertedOnce) {
  HarnessOptions options = ProductOn("v6e", 0.02);
  options.low = 0.5;
  options.in_vmem = {0, 1, 2, 3, 4};
  ASSERT_OK_AND_ASSIGN(const HarnessResult result,
                       CompareKernel(Weighted({"8,4", 256, 256, 32}), options));
  EXPECT_LT(result.cycles, 3700);
}

// The inverses of columns hold registers once, not in front of every row: with
// 32 of them several rows are under way while the EUP works. A member's 16
// registers take 9 instructions of two vector slots for every two, 36 cycles.
TEST(MemberColumnsTest, FewRegistersHoldSeveralRows) {
  HarnessOptions options = ProductOn("v4", 0.02);
  options.low = 0.5;
  ASSERT_OK_AND_ASSIGN(
      const HarnessResult result,
      CompareKernel(Weighted({"16,12", 128, 128, 64}), options));
  EXPECT_LT(result.cycles, 192 * 90);
}

}  // namespace
}  // namespace ptxla::lowering
