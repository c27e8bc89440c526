// Arithmetic in front of a product's operands: bundles against the evaluator,
// on ragged shapes and all chips.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "isa/semantics/mutant.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

HarnessOptions WithQuotientsOn(const std::string& chip) {
  HarnessOptions options;
  options.chip = chip;
  options.low = 0.5;
  options.high = 1.5;
  options.absolute = 0.01;
  options.relative = 0.02;
  return options;
}

struct Sizes {
  int batch, m, k, n;
};
constexpr Sizes kSizes[] = {
    {1, 7, 129, 64},  {2, 129, 1000, 127}, {3, 17, 100, 300},
    {2, 1000, 1, 32}, {5, 300, 257, 128},
};

// A softmax divided in front of its second product.
std::string Divided(const Sizes& s, const char* type) {
  return absl::Substitute(R"(HloModule m
fused {
  e = f32[$0,$1,$2] parameter(0)
  t = f32[$0,$1] parameter(1)
  v = $4[$0,$2,$3] parameter(2)
  tb = f32[$0,$1,$2] broadcast(t), dimensions={0,1}
  p = f32[$0,$1,$2] divide(e, tb)
  c = $4[$0,$1,$2] convert(p)
  ROOT d = f32[$0,$1,$3] dot(c, v), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
}
ENTRY e {
  e = f32[$0,$1,$2] parameter(0)
  t = f32[$0,$1] parameter(1)
  v = $4[$0,$2,$3] parameter(2)
  ROOT f = f32[$0,$1,$3] fusion(e, t, v), kind=kOutput, calls=fused
})",
                          s.batch, s.m, s.k, s.n, type);
}

TEST(OperandPrologueTest, ADivisionByValuesPerRowEqualsTheEvaluator) {
  for (const char* chip : kAllChips) {
    for (const Sizes& s : kSizes) {
      for (const char* type : {"bf16", "f32"}) {
        EXPECT_OK(
            CompareKernel(Divided(s, type), WithQuotientsOn(chip)).status())
            << chip << " " << s.batch << " " << s.m << " " << s.k << " "
            << type;
      }
    }
  }
}

TEST(OperandPrologueTest, OperandsMayStayInVmem) {
  for (const char* chip : {"v5e", "v6e", "tpu7x"}) {
    HarnessOptions options = WithQuotientsOn(chip);
    options.in_vmem = {0, 1, 2, 3};
    for (const Sizes& s : kSizes) {
      EXPECT_OK(CompareKernel(Divided(s, "bf16"), options).status())
          << chip << " " << s.batch << " " << s.m << " " << s.k;
    }
  }
}

// The exponential once more, with maximum and sum, in front of either operand;
// `how`: dimension numbers.
std::string Exponential(const char* lhs, const char* rhs, const char* out,
                        const char* rows, const char* how, bool left) {
  return absl::Substitute(R"(HloModule m
fused {
  s = f32[$0] parameter(0)
  m = f32[$3] parameter(1)
  w = bf16[$1] parameter(2)
  mb = f32[$6] broadcast(m), dimensions={0,1}
  a = f32[$6] subtract($7, mb)
  x = f32[$6] exponential(a)
  b = bf16[$6] convert(x)
  ROOT d = f32[$2] dot($5), lhs_batch_dims={0}, rhs_batch_dims={0}, $4
}
ENTRY e {
  s = f32[$0] parameter(0)
  m = f32[$3] parameter(1)
  w = bf16[$1] parameter(2)
  ROOT f = f32[$2] fusion(s, m, w), kind=kOutput, calls=fused
})",
                          left ? lhs : rhs, left ? rhs : lhs, out, rows, how,
                          left ? "b, w" : "w, b", left ? lhs : rhs, "s");
}

TEST(OperandPrologueTest, EitherOperandInEitherOrderMayBeComputed) {
  for (const char* chip : kAllChips) {
    // [M, K] x [K, N], [K, M] x [K, N], [M, K] x [N, K].
    EXPECT_OK(
        CompareKernel(Exponential("2,100,300", "2,300,70", "2,100,70", "2,100",
                                  "lhs_contracting_dims={2}, "
                                  "rhs_contracting_dims={1}",
                                  true),
                      WithQuotientsOn(chip))
            .status())
        << chip;
    EXPECT_OK(
        CompareKernel(Exponential("2,300,100", "2,300,70", "2,100,70", "2,300",
                                  "lhs_contracting_dims={1}, "
                                  "rhs_contracting_dims={1}",
                                  true),
                      WithQuotientsOn(chip))
            .status())
        << chip;
    EXPECT_OK(CompareKernel(
                  Exponential("2,100,300", "2,300,170", "2,100,170", "2,300",
                              "lhs_contracting_dims={2}, "
                              "rhs_contracting_dims={1}",
                              false),
                  WithQuotientsOn(chip))
                  .status())
        << chip;
    EXPECT_OK(
        CompareKernel(Exponential("2,100,300", "2,70,300", "2,100,70", "2,70",
                                  "lhs_contracting_dims={2}, "
                                  "rhs_contracting_dims={2}",
                                  false),
                      WithQuotientsOn(chip))
            .status())
        << chip;
  }
}

// A normalisation: values per row and per column, of a product with many
// columns and steps.
std::string Normalised(int m, int k, int n, const char* type) {
  return absl::Substitute(R"(HloModule m
fused {
  x = $3[$0,$1] parameter(0)
  mean = f32[$0] parameter(1)
  rstd = f32[$0] parameter(2)
  gamma = f32[$1] parameter(3)
  beta = bf16[$1] parameter(4)
  w = bf16[$1,$2] parameter(5)
  xf = f32[$0,$1] convert(x)
  mb = f32[$0,$1] broadcast(mean), dimensions={0}
  c = f32[$0,$1] subtract(xf, mb)
  rb = f32[$0,$1] broadcast(rstd), dimensions={0}
  h = f32[$0,$1] multiply(c, rb)
  gb = f32[$0,$1] broadcast(gamma), dimensions={1}
  g = f32[$0,$1] multiply(h, gb)
  bc = f32[$1] convert(beta)
  bb = f32[$0,$1] broadcast(bc), dimensions={1}
  y = f32[$0,$1] add(g, bb)
  yb = bf16[$0,$1] convert(y)
  ROOT d = f32[$0,$2] dot(yb, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
ENTRY e {
  x = $3[$0,$1] parameter(0)
  mean = f32[$0] parameter(1)
  rstd = f32[$0] parameter(2)
  gamma = f32[$1] parameter(3)
  beta = bf16[$1] parameter(4)
  w = bf16[$1,$2] parameter(5)
  ROOT f = f32[$0,$2] fusion(x, mean, rstd, gamma, beta, w), kind=kOutput, calls=fused
})",
                          m, k, n, type);
}

TEST(OperandPrologueTest, ANormalisationEqualsTheEvaluatorOnEveryChip) {
  for (const char* chip : kAllChips) {
    HarnessOptions options = WithQuotientsOn(chip);
    options.absolute = 0.05;
    for (const char* type : {"bf16", "f32"}) {
      EXPECT_OK(
          CompareKernel(Normalised(129, 300, 260, type), options).status())
          << chip << " " << type;
      EXPECT_OK(CompareKernel(Normalised(7, 128, 1000, type), options).status())
          << chip << " " << type;
    }
  }
}

// Values per column of K in bf16, of which 256 are a row of memory: in two
// steps of 768, which would be 384 each, and of rows that lie turned.
std::string Biased(const char* rows, const char* contracted, int dimension) {
  return absl::Substitute(R"(HloModule m
fused {
  x = bf16[$0] parameter(0)
  bias = bf16[768] parameter(1)
  w = bf16[768,128] parameter(2)
  bb = bf16[$0] broadcast(bias), dimensions={$2}
  y = bf16[$0] add(x, bb)
  ROOT d = f32[64,128] dot(y, w), lhs_contracting_dims={$1}, rhs_contracting_dims={0}
}
ENTRY e {
  x = bf16[$0] parameter(0)
  bias = bf16[768] parameter(1)
  w = bf16[768,128] parameter(2)
  ROOT f = f32[64,128] fusion(x, bias, w), kind=kOutput, calls=fused, backend_config={"window_config":{"output_window_bounds":["8","1"],"iteration_bounds":["1","1","2"]}}
})",
                          rows, contracted, dimension);
}

TEST(OperandPrologueTest, StepsAlongKBeginAtWholeRowsOfNarrowValues) {
  for (const char* chip : {"v5e", "v6e"}) {
    HarnessOptions options = WithQuotientsOn(chip);
    options.absolute = 0.05;
    for (const bool in_vmem : {false, true}) {
      if (in_vmem) options.in_vmem = {0, 1, 2, 3};
      const auto result = CompareKernel(Biased("64,768", "1", 1), options);
      ASSERT_OK(result.status()) << chip << " " << in_vmem;
      EXPECT_EQ(result->kernel.grid.back(), 2) << chip;
    }
    EXPECT_OK(CompareKernel(Biased("768,64", "0", 0), options).status())
        << chip;
  }
}

// Several arrays of the operand's shape, a mask of them in bytes.
TEST(OperandPrologueTest, SeveralArraysAndAMaskEqualTheEvaluator) {
  constexpr const char* kText = R"(HloModule m
fused {
  a = f32[150,200] parameter(0)
  b = bf16[150,200] parameter(1)
  p = pred[150,200] parameter(2)
  w = bf16[200,130] parameter(3)
  bf = f32[150,200] convert(b)
  s = f32[150,200] multiply(a, bf)
  zero = f32[] constant(0)
  z = f32[150,200] broadcast(zero), dimensions={}
  r = f32[150,200] select(p, s, z)
  ROOT d = f32[150,130] dot(r, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
ENTRY e {
  a = f32[150,200] parameter(0)
  b = bf16[150,200] parameter(1)
  p = pred[150,200] parameter(2)
  w = bf16[200,130] parameter(3)
  ROOT f = f32[150,130] fusion(a, b, p, w), kind=kOutput, calls=fused
})";
  for (const char* chip : kAllChips) {
    EXPECT_OK(CompareKernel(kText, WithQuotientsOn(chip)).status()) << chip;
  }
}

// A comparison that passes whatever the machine computes would be none.
// A normalisation of [batch, rows, K] in front of a product without a batch,
// with a residual, a bias and values per row behind it.
std::string Folded(int batch, int rows, int k, int n) {
  return absl::Substitute(R"(HloModule m
fused {
  x = bf16[$0,$1,$2] parameter(0)
  mean = f32[$0,$1] parameter(1)
  gamma = f32[$2] parameter(2)
  w = bf16[$2,$3] parameter(3)
  bias = f32[$3] parameter(4)
  r = bf16[$0,$1,$3] parameter(5)
  scale = f32[$0,$1] parameter(6)
  f = f32[$0,$1,$2] convert(x)
  mb = f32[$0,$1,$2] broadcast(mean), dimensions={0,1}
  c = f32[$0,$1,$2] subtract(f, mb)
  gb = f32[$0,$1,$2] broadcast(gamma), dimensions={2}
  y = f32[$0,$1,$2] multiply(c, gb)
  yb = bf16[$0,$1,$2] convert(y)
  d = f32[$0,$1,$3] dot(yb, w), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  bb = f32[$0,$1,$3] broadcast(bias), dimensions={2}
  s = f32[$0,$1,$3] add(d, bb)
  sb = f32[$0,$1,$3] broadcast(scale), dimensions={0,1}
  t = f32[$0,$1,$3] multiply(s, sb)
  rf = f32[$0,$1,$3] convert(r)
  ROOT o = f32[$0,$1,$3] add(t, rf)
}
ENTRY e {
  x = bf16[$0,$1,$2] parameter(0)
  mean = f32[$0,$1] parameter(1)
  gamma = f32[$2] parameter(2)
  w = bf16[$2,$3] parameter(3)
  bias = f32[$3] parameter(4)
  r = bf16[$0,$1,$3] parameter(5)
  scale = f32[$0,$1] parameter(6)
  ROOT f = f32[$0,$1,$3] fusion(x, mean, gamma, w, bias, r, scale), kind=kOutput, calls=fused
})",
                          batch, rows, k, n);
}

TEST(OperandPrologueTest, RowsOfSeveralDimensionsEqualTheEvaluator) {
  for (const char* chip : kAllChips) {
    for (const Sizes& s : {Sizes{2, 128, 130, 64}, Sizes{3, 256, 257, 300},
                           Sizes{5, 384, 128, 129}, Sizes{9, 128, 512, 1000}}) {
      EXPECT_OK(
          CompareKernel(Folded(s.batch, s.m, s.k, s.n), WithQuotientsOn(chip))
              .status())
          << chip << " " << s.batch << " " << s.m << " " << s.k << " " << s.n;
    }
  }
}

TEST(OperandPrologueTest, AMachineThatInvertsWronglyIsNoticed) {
  const isa::SemanticsTable mutant = isa::MutantTable(isa::Opcode::kVrcpF32);
  HarnessOptions options = WithQuotientsOn("v6e");
  options.semantics = &mutant;
  EXPECT_FALSE(CompareKernel(Divided({2, 100, 300, 64}, "bf16"), options).ok());
}

}  // namespace
}  // namespace ptxla::lowering
