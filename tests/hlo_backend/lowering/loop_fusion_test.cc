// Elementwise loops over every type and shape: bundles against the evaluator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/substitute.h"
#include "isa/asm.h"
#include "isa/timing.h"
#include "tests/hlo_backend/lowering/binary_operation.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(LoopFusionTest, AddsOfRaggedShapesEqualTheEvaluator) {
  for (const char* chip : {"unit", "v6e", "v5e", "v4", "v3", "v2"}) {
    for (const char* dims : {"1", "7", "129", "1000", "5000", "1,1", "7,129",
                             "127,1000", "3,7,129", "2,3,8,128", "1000,127"}) {
      HarnessOptions options;
      options.chip = chip;
      EXPECT_OK(
          CompareKernel(BinaryOperation("add", "f32", dims), options).status())
          << chip << " " << dims;
    }
  }
}

TEST(LoopFusionTest, NarrowTypesArePackedAndUnpacked) {
  for (const char* chip : {"v6e", "v3", "v2"}) {
    HarnessOptions options;
    options.chip = chip;
    for (const char* type : {"bf16", "s8", "u8", "s16", "u16", "s32"}) {
      for (const char* dims :
           {"1", "129", "1000", "7,129", "127,1000", "3,7,129"}) {
        EXPECT_OK(
            CompareKernel(BinaryOperation("add", type, dims), options).status())
            << chip << " " << type << " " << dims;
      }
    }
  }
}

// Signs are folded into what follows, bit for bit.
TEST(LoopFusionTest, ExponentialsOfNegatedValuesEqualTheEvaluator) {
  for (const char* chip : {"v6e", "v4", "v3"}) {
    for (const char* type : {"f32", "bf16"}) {
      HarnessOptions options;
      options.chip = chip;
      EXPECT_OK(CompareKernel(absl::Substitute(R"(HloModule m
f {
  p = $0[7,129] parameter(0)
  size = $0[7,129] abs(p)
  below = $0[7,129] negate(size)
  e = $0[7,129] exponential(below)
  n = $0[7,129] negate(p)
  g = $0[7,129] exponential(n)
  ROOT t = ($0[7,129], $0[7,129], $0[7,129]) tuple(e, g, below)
}
ENTRY e {
  a = $0[7,129] parameter(0)
  ROOT r = ($0[7,129], $0[7,129], $0[7,129]) fusion(a), kind=kLoop, calls=f
})",
                                               type),
                              options)
                    .status())
          << chip << " " << type;
    }
  }
}

TEST(LoopFusionTest, PackedFormulasEqualTheEvaluator) {
  for (const char* dims : {"1000", "7,129", "127,1000", "3,16,256"}) {
    HarnessOptions options;
    options.chip = "tpu7x";
    ASSERT_OK_AND_ASSIGN(const HarnessResult result,
                         CompareKernel(absl::Substitute(R"(HloModule m
f {
  a = bf16[$0] parameter(0)
  b = bf16[$0] parameter(1)
  k = bf16[] constant(0.75)
  kk = bf16[$0] broadcast(k), dimensions={}
  m = bf16[$0] multiply(a, b)
  s = bf16[$0] add(m, kk)
  d = bf16[$0] subtract(s, b)
  t = bf16[$0] tanh(d)
  u = bf16[$0] maximum(t, a)
  ROOT r = bf16[$0] minimum(u, kk)
}
ENTRY e {
  x = bf16[$0] parameter(0)
  y = bf16[$0] parameter(1)
  ROOT r = bf16[$0] fusion(x, y), kind=kLoop, calls=f
})",
                                                        dims),
                                       options));
    // Nothing is expanded to f32.
    const isa::Profile step =
        isa::ProfileCode(result.kernel.step, isa::MachineModel{});
    EXPECT_LE(step.slot_uses[static_cast<int>(isa::Slot::kVector)],
              8 * step.slot_uses[static_cast<int>(isa::Slot::kStore)]);
  }
}

TEST(LoopFusionTest, ProductsOfIntegersKeepTheirLow32Bits) {
  for (const char* chip : {"v4", "v3", "v5e"}) {
    for (const char* type : {"s32", "u32"}) {
      HarnessOptions options;
      options.chip = chip;
      options.low = std::string(type) == "s32" ? -2e9 : 0;
      options.high = 2e9;
      EXPECT_OK(
          CompareKernel(BinaryOperation("multiply", type, "7,129"), options)
              .status())
          << chip << " " << type;
    }
  }
}

TEST(LoopFusionTest, CopiesKeepTheirBits) {
  for (const char* chip : {"v6e", "v3"}) {
    for (const char* type : {"f32", "bf16", "s32"}) {
      for (const char* dims : {"1000", "7,129", "3,7,129"}) {
        HarnessOptions options;
        options.chip = chip;
        EXPECT_OK(CompareKernel(absl::Substitute(R"(HloModule m
ENTRY e {
  a = $0[$1] parameter(0)
  ROOT r = $0[$1] copy(a)
})",
                                                 type, dims),
                                options)
                      .status())
            << chip << " " << type << " " << dims;
      }
    }
  }
}

// Few rows lie in tiles of few rows: as the TPU compiler lays them out.
TEST(LoopFusionTest, NarrowTilesOfFewRowsMixWithWideOnes) {
  struct Case {
    const char* chip;
    const char* rows;
    const char *f32, *bf16, *u8;
  };
  for (const Case& c :
       {Case{"v6e", "3", "4", "4", "4"}, Case{"v6e", "2", "2", "2", "4"},
        Case{"v4", "1", "1", "2", "4"}, Case{"v3", "2", "2", "4", "8"},
        Case{"v2", "3", "4", "4", "8"}}) {
    const std::string parameters = absl::Substitute(
        R"(  a = f32[5,$0,300]{2,1,0:T($1,128)} parameter(0)
  h = bf16[5,$0,300]{2,1,0:T($2,128)(2,1)} parameter(1)
  u = u8[5,$0,300]{2,1,0:T($3,128)(4,1)} parameter(2)
)",
        c.rows, c.f32, c.bf16, c.u8);
    const std::string results = absl::Substitute(
        "(f32[5,$0,300]{2,1,0:T($1,128)}, bf16[5,$0,300]{2,1,0:T($2,128)(2,1)},"
        " u8[5,$0,300]{2,1,0:T($3,128)(4,1)})",
        c.rows, c.f32, c.bf16, c.u8);
    const std::string text = absl::Substitute(
        R"(HloModule m
f {
$0  b = f32[5,$2,300] convert(h)
  w = f32[5,$2,300] convert(u)
  s = f32[5,$2,300] add(a, b)
  t = f32[5,$2,300]{2,1,0:T($3,128)} add(s, w)
  o = bf16[5,$2,300]{2,1,0:T($4,128)(2,1)} convert(s)
  d = u8[5,$2,300]{2,1,0:T($5,128)(4,1)} add(u, u)
  ROOT r = $1 tuple(t, o, d)
}
ENTRY e {
$0  ROOT r = $1 fusion(a, h, u), kind=kLoop, calls=f
})",
        parameters, results, c.rows, c.f32, c.bf16, c.u8);
    HarnessOptions options;
    options.chip = c.chip;
    EXPECT_OK(CompareKernel(text, options).status())
        << c.chip << " " << c.rows << text;
  }
}

// v3 and v4 convert f16 by sequences, v5e on by instructions.
TEST(LoopFusionTest, HalfPrecisionIsRightAtEverySize) {
  for (const char* chip : {"v3", "v4", "v5e", "v6e"}) {
    for (const double size : {1e-7, 1e-4, 1.0, 6e4}) {
      for (const char* dims : {"1000", "7,129", "3,37,300"}) {
        HarnessOptions options;
        options.chip = chip;
        options.low = -size;
        options.high = size;
        options.relative = 1e-9;
        options.absolute = 1e-12;
        EXPECT_OK(CompareKernel(BinaryOperation("add", "f16", dims), options)
                      .status())
            << chip << " " << size << " " << dims;
      }
    }
  }
}

TEST(LoopFusionTest, EveryFunctionEqualsTheEvaluator) {
  for (const char* chip : {"v6e", "v5e", "v4"}) {
    for (const char* op :
         {"abs", "negate", "sqrt", "rsqrt", "exponential", "log", "tanh",
          "logistic", "erf", "floor", "ceil", "sign", "cosine", "sine",
          "exponential-minus-one", "log-plus-one", "cbrt"}) {
      HarnessOptions options;
      options.chip = chip;
      options.low = absl::string_view(op) == "log" ? 0.01 : -3;
      options.high = 5;
      const std::string text = absl::Substitute(R"(HloModule m
ENTRY e {
  a = f32[1000] parameter(0)
  ROOT r = f32[1000] $0(a)
})",
                                                op);
      EXPECT_OK(CompareKernel(text, options).status()) << chip << " " << op;
    }
    for (const char* op : {"divide", "power", "maximum", "minimum"}) {
      HarnessOptions options;
      options.chip = chip;
      EXPECT_OK(
          CompareKernel(BinaryOperation(op, "f32", "7,300"), options).status())
          << chip << " " << op;
    }
  }
}

// Chips multiply words by digits of 12 bits, by halves, or whole.
TEST(LoopFusionTest, AnglesOfAnySizeAreReducedOnEveryChip) {
  for (const char* chip : {"v3", "v4", "v5e", "v6e", "tpu7x"}) {
    for (const double size : {1e2, 1e9, 1e37}) {
      for (const char* type : {"f32", "bf16"}) {
        HarnessOptions options;
        options.chip = chip;
        options.low = -size;
        options.high = size;
        const std::string text = absl::Substitute(R"(HloModule m
f {
  a = $0[13,300] parameter(0)
  s = $0[13,300] sine(a)
  c = $0[13,300] cosine(a)
  ROOT r = $0[13,300] subtract(s, c)
}
ENTRY e {
  a = $0[13,300] parameter(0)
  ROOT r = $0[13,300] fusion(a), kind=kLoop, calls=f
})",
                                                  type);
        EXPECT_OK(CompareKernel(text, options).status())
            << chip << " " << size << " " << type;
      }
    }
  }
}

TEST(LoopFusionTest, SelectsComparesAndPredicatesMixTypes) {
  for (const char* dims : {"1000", "37,300", "5,40,129"}) {
    const std::string text = absl::Substitute(R"(HloModule m
f {
  p = pred[$0] parameter(0)
  a = bf16[$0] parameter(1)
  b = f32[$0] parameter(2)
  c = f32[$0] convert(a)
  lt = pred[$0] compare(c, b), direction=LT
  both = pred[$0] and(p, lt)
  s = f32[$0] select(both, c, b)
  u = u8[$0] convert(both)
  t = bf16[$0] convert(s)
  ROOT r = (pred[$0], bf16[$0], f32[$0], u8[$0]) tuple(both, t, s, u)
}
ENTRY e {
  p = pred[$0] parameter(0)
  a = bf16[$0] parameter(1)
  b = f32[$0] parameter(2)
  ROOT r = (pred[$0], bf16[$0], f32[$0], u8[$0]) fusion(p, a, b), kind=kLoop, calls=f
})",
                                              dims);
    EXPECT_OK(CompareKernel(text).status()) << dims;
  }
}

// Constants in registers leave none for several elements at a time: a v4 has
// 32.
TEST(LoopFusionTest, ConstantsOfSumsAndProductsNeedNoRegister) {
  HarnessOptions options;
  options.chip = "v4";
  options.absolute = options.relative = 2e-2;
  for (const char* type : {"f32", "bf16"}) {
    ASSERT_OK_AND_ASSIGN(const HarnessResult result,
                         CompareKernel(absl::Substitute(R"(HloModule m
fused {
  x = $0[64,300] parameter(0)
  a = $0[] constant(0.25)
  ab = $0[64,300] broadcast(a), dimensions={}
  b = $0[] constant(-1.5)
  bb = $0[64,300] broadcast(b), dimensions={}
  p = $0[64,300] multiply(ab, x)
  ROOT r = $0[64,300] add(p, bb)
}
ENTRY e {
  x = $0[64,300] parameter(0)
  ROOT r = $0[64,300] fusion(x), kind=kLoop, calls=fused
})",
                                                        type),
                                       options));
    EXPECT_THAT(isa::Print(result.kernel), Not(HasSubstr("vimm"))) << type;
  }
}

TEST(LoopFusionTest, ArgumentsMayLieInVmem) {
  HarnessOptions options;
  options.in_vmem = {0, 2};
  for (const char* type : {"f32", "bf16"}) {
    for (const char* dims : {"129", "7,129", "3,37,300"}) {
      EXPECT_OK(
          CompareKernel(BinaryOperation("add", type, dims), options).status())
          << type << dims;
    }
  }
}

// Three planes of 4 rows are a register and a half: only the last of the two
// steps, one for each core, stores the half.
TEST(LoopFusionTest, OnlyTheLastStepStoresAPartOfARegisterInVmem) {
  HarnessOptions options;
  options.in_vmem = {2};
  for (const char* chip : {"v4", "v5p", "v6e"}) {
    options.chip = chip;
    for (const char* dims : {"3,4,3", "7,4,100", "5,2,128"}) {
      EXPECT_OK(
          CompareKernel(BinaryOperation("add", "f32", dims), options).status())
          << chip << " " << dims;
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
