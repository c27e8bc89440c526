// Products whose rows are finished in their kernel: bundles against the
// evaluator, on ragged shapes and all chips.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "isa/semantics/mutant.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/hlo_backend/lowering/products/row_epilogue_cases.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// [batch, rows, columns] of scores over a depth, and their softmax in `type`.
std::string Softmax(int batch, int rows, int columns, int depth,
                    const char* type) {
  return absl::Substitute(R"(HloModule m
$5
fused {
  q = bf16[$0,$1,$3] parameter(0)
  k = bf16[$0,$2,$3] parameter(1)
  d = f32[$0,$1,$2] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
  c = f32[] constant(0.7)
  cs = f32[$0,$1,$2] broadcast(c), dimensions={}
  s = f32[$0,$1,$2] multiply(d, cs)
  low = f32[] constant(-inf)
  m = f32[$0,$1] reduce(s, low), dimensions={2}, to_apply=max
  mb = f32[$0,$1,$2] broadcast(m), dimensions={0,1}
  z = f32[$0,$1,$2] subtract(s, mb)
  e = f32[$0,$1,$2] exponential(z)
  zero = f32[] constant(0)
  t = f32[$0,$1] reduce(e, zero), dimensions={2}, to_apply=sum
  tb = f32[$0,$1,$2] broadcast(t), dimensions={0,1}
  p = f32[$0,$1,$2] divide(e, tb)
  ROOT r = $4[$0,$1,$2] convert(p)
}
ENTRY e {
  q = bf16[$0,$1,$3] parameter(0)
  k = bf16[$0,$2,$3] parameter(1)
  ROOT f = $4[$0,$1,$2] fusion(q, k), kind=kOutput, calls=fused
})",
                          batch, rows, columns, depth, type, kReducers);
}

TEST(RowEpilogueTest, ASoftmaxOfScoresEqualsTheEvaluatorOnEveryChip) {
  struct Shape {
    int batch, rows, columns, depth;
  };
  for (const char* chip : kAllChips) {
    for (const Shape& s : {Shape{1, 7, 129, 64}, Shape{2, 100, 100, 32},
                           Shape{2, 129, 1000, 128}, Shape{1, 256, 1, 64},
                           Shape{2, 17, 300, 256}}) {
      for (const char* type : {"bf16", "f32"}) {
        EXPECT_OK(
            CompareKernel(Softmax(s.batch, s.rows, s.columns, s.depth, type),
                          On(chip))
                .status())
            << chip << " " << s.batch << " " << s.rows << " " << s.columns
            << " " << type;
      }
    }
  }
}

// An array in VMEM is walked in place: nothing beyond it is written.
TEST(RowEpilogueTest, FinishedRowsMayStayInVmem) {
  for (const char* chip : {"v5e", "v6e", "tpu7x"}) {
    HarnessOptions options = On(chip);
    options.in_vmem = {2};
    for (const int batch : {1, 3, 5}) {
      EXPECT_OK(
          CompareKernel(Softmax(batch, 130, 200, 64, "bf16"), options).status())
          << chip << " " << batch;
    }
  }
}

// Maximum, exponential and sum: what the next product divides.
std::string Statistics(int batch, int rows, int columns, int depth) {
  return absl::Substitute(R"(HloModule m
$4
fused {
  q = bf16[$0,$1,$3] parameter(0)
  k = bf16[$0,$2,$3] parameter(1)
  d = f32[$0,$1,$2] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
  low = f32[] constant(-inf)
  m = f32[$0,$1] reduce(d, low), dimensions={2}, to_apply=max
  mb = f32[$0,$1,$2] broadcast(m), dimensions={0,1}
  z = f32[$0,$1,$2] subtract(d, mb)
  e = f32[$0,$1,$2] exponential(z)
  zero = f32[] constant(0)
  t = f32[$0,$1] reduce(e, zero), dimensions={2}, to_apply=sum
  ROOT r = (f32[$0,$1], f32[$0,$1], f32[$0,$1,$2]) tuple(m, t, e)
}
ENTRY e {
  q = bf16[$0,$1,$3] parameter(0)
  k = bf16[$0,$2,$3] parameter(1)
  f = (f32[$0,$1], f32[$0,$1], f32[$0,$1,$2]) fusion(q, k), kind=kOutput, calls=fused
  x = f32[$0,$1] get-tuple-element(f), index=0
  y = f32[$0,$1] get-tuple-element(f), index=1
  z = f32[$0,$1,$2] get-tuple-element(f), index=2
  ROOT r = (f32[$0,$1], f32[$0,$1], f32[$0,$1,$2]) tuple(x, y, z)
})",
                          batch, rows, columns, depth, kReducers);
}

TEST(RowEpilogueTest, WhatRowsReduceToMayBeResults) {
  struct Shape {
    int batch, rows, columns, depth;
  };
  for (const char* chip : kAllChips) {
    for (const Shape& s : {Shape{1, 7, 129, 64}, Shape{2, 100, 100, 32},
                           Shape{3, 129, 1000, 128}, Shape{9, 300, 128, 64},
                           Shape{17, 130, 300, 16}, Shape{1, 3000, 256, 64}}) {
      EXPECT_OK(CompareKernel(Statistics(s.batch, s.rows, s.columns, s.depth),
                              On(chip))
                    .status())
          << chip << " " << s.batch << " " << s.rows << " " << s.columns;
    }
  }
}

// Where 128 whole rows are too many, a step makes a part of a line of results.
TEST(RowEpilogueTest, WhatRowsReduceToMayComeInPartsOfLines) {
  for (const char* chip : kAllChips) {
    ASSERT_OK_AND_ASSIGN(const auto whole, chips::ChipSpec::Load(chip));
    for (const int64_t kib : {1600, 1100}) {
      ASSERT_OK_AND_ASSIGN(
          const auto spec,
          whole.WithValue("vmem.scoped_limit", static_cast<double>(kib << 10)));
      HarnessOptions options = On(chip);
      options.spec = &spec;
      const std::string text = Statistics(2, 300, 1000, 64);
      EXPECT_OK(CompareKernel(text, options).status()) << chip << " " << kib;
      ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel, KernelOf(text, options));
      EXPECT_GT(kernel.grid.size(), 1u);
    }
  }
}

TEST(RowEpilogueTest, ResultsPerRowMayStayInVmem) {
  for (const char* chip : {"v5e", "v6e"}) {
    HarnessOptions options = On(chip);
    options.in_vmem = {2, 3, 4};
    for (const int batch : {1, 3, 9}) {
      EXPECT_OK(
          CompareKernel(Statistics(batch, 300, 200, 64), options).status())
          << chip << " " << batch;
    }
  }
}

// JAX's softmax of bf16 scores: the maximum in bf16, the sum in f32.
TEST(RowEpilogueTest, AMaximumMayBeOfBf16Scores) {
  for (const char* chip : kAllChips) {
    EXPECT_OK(CompareKernel(R"(HloModule m
maxb { x = bf16[] parameter(0)
 y = bf16[] parameter(1)
 ROOT m = bf16[] maximum(x, y) }
sum { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT s = f32[] add(x, y) }
fused {
  q = bf16[2,130,64] parameter(0)
  k = bf16[2,200,64] parameter(1)
  d = bf16[2,130,200] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
  low = bf16[] constant(-inf)
  m = bf16[2,130] reduce(d, low), dimensions={2}, to_apply=maxb
  mb = bf16[2,130,200] broadcast(m), dimensions={0,1}
  z = bf16[2,130,200] subtract(d, mb)
  e = bf16[2,130,200] exponential(z)
  f = f32[2,130,200] convert(e)
  zero = f32[] constant(0)
  t = f32[2,130] reduce(f, zero), dimensions={2}, to_apply=sum
  tc = bf16[2,130] convert(t)
  tb = bf16[2,130,200] broadcast(tc), dimensions={0,1}
  ROOT p = bf16[2,130,200] divide(e, tb)
}
ENTRY e {
  q = bf16[2,130,64] parameter(0)
  k = bf16[2,200,64] parameter(1)
  ROOT f = bf16[2,130,200] fusion(q, k), kind=kOutput, calls=fused
})",
                            On(chip))
                  .status())
        << chip;
  }
}

// dS = P * (dP - rowsum(P * dP)), with P read beside the product, its weights
// [K, N].
TEST(RowEpilogueTest, TheGradientOfASoftmaxReadsItsRowsTwice) {
  for (const char* chip : kAllChips) {
    for (const char* type : {"bf16", "f32"}) {
      EXPECT_OK(CompareKernel(absl::Substitute(R"(HloModule m
$1
fused {
  g = bf16[2,200,96] parameter(0)
  v = bf16[2,96,300] parameter(1)
  p = $0[2,200,300] parameter(2)
  d = f32[2,200,300] dot(g, v), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
  pf = f32[2,200,300] convert(p)
  pd = f32[2,200,300] multiply(pf, d)
  zero = f32[] constant(0)
  t = f32[2,200] reduce(pd, zero), dimensions={2}, to_apply=sum
  tb = f32[2,200,300] broadcast(t), dimensions={0,1}
  x = f32[2,200,300] subtract(d, tb)
  y = f32[2,200,300] multiply(x, pf)
  ROOT r = $0[2,200,300] convert(y)
}
ENTRY e {
  g = bf16[2,200,96] parameter(0)
  v = bf16[2,96,300] parameter(1)
  p = $0[2,200,300] parameter(2)
  ROOT f = $0[2,200,300] fusion(g, v, p), kind=kOutput, calls=fused
})",
                                               type, kReducers),
                              [&] {
                                HarnessOptions o = On(chip);
                                o.absolute = 1;
                                return o;
                              }())
                    .status())
          << chip << " " << type;
    }
  }
}

// A mean and a variance, each with work on the rows' shape; two results; a
// product over several steps of K.
TEST(RowEpilogueTest, ANormalisationAfterAProductHasWorkPerRow) {
  for (const char* chip : kAllChips) {
    EXPECT_OK(CompareKernel(absl::Substitute(R"(HloModule m
$0
fused {
  x = bf16[100,600] parameter(0)
  w = bf16[600,200] parameter(1)
  bias = f32[200] parameter(2)
  res = f32[100,200] parameter(3)
  d = f32[100,200] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  bb = f32[100,200] broadcast(bias), dimensions={1}
  h = f32[100,200] add(d, bb)
  y = f32[100,200] add(h, res)
  zero = f32[] constant(0)
  t = f32[100] reduce(y, zero), dimensions={1}, to_apply=sum
  n = f32[] constant(0.005)
  ns = f32[100] broadcast(n), dimensions={}
  mean = f32[100] multiply(t, ns)
  mb = f32[100,200] broadcast(mean), dimensions={0}
  z = f32[100,200] subtract(y, mb)
  zz = f32[100,200] multiply(z, z)
  v = f32[100] reduce(zz, zero), dimensions={1}, to_apply=sum
  var = f32[100] multiply(v, ns)
  eps = f32[] constant(1e-5)
  es = f32[100] broadcast(eps), dimensions={}
  ve = f32[100] add(var, es)
  rs = f32[100] rsqrt(ve)
  rb = f32[100,200] broadcast(rs), dimensions={0}
  o = f32[100,200] multiply(z, rb)
  c = bf16[100,200] convert(o)
  ROOT q = (f32[100,200], bf16[100,200]) tuple(y, c)
}
ENTRY e {
  x = bf16[100,600] parameter(0)
  w = bf16[600,200] parameter(1)
  bias = f32[200] parameter(2)
  res = f32[100,200] parameter(3)
  ROOT f = (f32[100,200], bf16[100,200]) fusion(x, w, bias, res), kind=kOutput, calls=fused
})",
                                             kReducers),
                            [&] {
                              HarnessOptions o = On(chip);
                              o.absolute = 0.05;
                              return o;
                            }())
                  .status())
        << chip;
  }
}

// A softmax is the same whatever is subtracted; a difference to the maximum is
// not.
TEST(RowEpilogueTest, TheMaximumOfARowIsTheMaximum) {
  const std::string hlo = absl::StrCat("HloModule m\n", kReducers, R"(
fused {
  x = bf16[40,64] parameter(0)
  w = bf16[64,300] parameter(1)
  d = f32[40,300] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  low = f32[] constant(-inf)
  m = f32[40] reduce(d, low), dimensions={1}, to_apply=max
  b = f32[40,300] broadcast(m), dimensions={0}
  ROOT r = f32[40,300] subtract(d, b)
}
ENTRY e {
  x = bf16[40,64] parameter(0)
  w = bf16[64,300] parameter(1)
  ROOT f = f32[40,300] fusion(x, w), kind=kOutput, calls=fused
})");
  HarnessOptions options = On("v6e");
  EXPECT_OK(CompareKernel(hlo, options).status());
  const isa::SemanticsTable mutant = isa::MutantTable(isa::Opcode::kVmaxXlane);
  options.semantics = &mutant;
  EXPECT_FALSE(CompareKernel(hlo, options).ok());
}

// dP and what softmax left in another kernel: P and its sums per row.
TEST(RowEpilogueTest, AGradientReadsValuesPerRowOfAnotherKernel) {
  for (const char* chip : kAllChips) {
    EXPECT_OK(CompareKernel(absl::StrCat("HloModule m\n", kReducers, R"(
fused {
  x = bf16[2,129,64] parameter(0)
  y = bf16[2,300,64] parameter(1)
  e = f32[2,129,300] parameter(2)
  t = f32[2,129] parameter(3)
  d = f32[2,129,300] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
  tb = f32[2,129,300] broadcast(t), dimensions={0,1}
  p = f32[2,129,300] multiply(d, tb)
  q = f32[2,129,300] multiply(p, e)
  zero = f32[] constant(0)
  s = f32[2,129] reduce(q, zero), dimensions={2}, to_apply=sum
  sb = f32[2,129,300] broadcast(s), dimensions={0,1}
  w = f32[2,129,300] subtract(p, sb)
  z = f32[2,129,300] multiply(w, e)
  ROOT r = bf16[2,129,300] convert(z)
}
ENTRY e {
  x = bf16[2,129,64] parameter(0)
  y = bf16[2,300,64] parameter(1)
  e = f32[2,129,300] parameter(2)
  t = f32[2,129] parameter(3)
  ROOT f = bf16[2,129,300] fusion(x, y, e, t), kind=kOutput, calls=fused
})"),
                            On(chip))
                  .status())
        << chip;
  }
}

}  // namespace
}  // namespace ptxla::lowering
