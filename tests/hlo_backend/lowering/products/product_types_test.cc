// Products of every type and precision against the evaluator, on ragged shapes
// and every chip, as the chip runs them: natively, or after conversions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/lowering/products/product_numbers.h"
#include "isa/from_chip_spec.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

using hlo::PrimitiveType;

int GenerationOf(const std::string& chip) {
  return chip == "tpu7x" ? 7 : chip[1] - '0';
}

std::string Text(PrimitiveType type, int64_t rows, int64_t columns,
                 const std::string& chip) {
  return hlo::WithTpuLayout(hlo::Shape::Array(type, {rows, columns}),
                            GenerationOf(chip))
      .ToStringWithLayout();
}

struct Case {
  PrimitiveType lhs, rhs, out;
  const char* precision = "";
};

struct Size {
  int64_t m, n, k;
  bool lhs_t = false, rhs_t = false;
};

std::string Dot(const Case& c, const Size& s, const std::string& chip) {
  return absl::Substitute(
      R"(HloModule m
ENTRY e {
  a = $0 parameter(0)
  b = $1 parameter(1)
  ROOT d = $2 dot(a, b), lhs_contracting_dims={$3}, rhs_contracting_dims={$4}$5
})",
      Text(c.lhs, s.lhs_t ? s.k : s.m, s.lhs_t ? s.m : s.k, chip),
      Text(c.rhs, s.rhs_t ? s.n : s.k, s.rhs_t ? s.k : s.n, chip),
      Text(c.out, s.m, s.n, chip), s.lhs_t ? 0 : 1, s.rhs_t ? 1 : 0,
      *c.precision == '\0'
          ? ""
          : absl::Substitute(", operand_precision={$0,$0}", c.precision));
}

// Whole numbers small enough for every type.
HarnessOptions Exact(const std::string& chip) {
  HarnessOptions options;
  options.chip = chip;
  options.low = -7;
  options.high = 7;
  options.absolute = 1e-6;
  options.relative = 1e-6;
  return options;
}

constexpr Size kTypeSizes[] = {{1, 7, 129},
                               {127, 129, 1000},
                               {129, 127, 7, false, true},
                               {70, 300, 300, false, true},
                               {33, 200, 260, true, false}};

class ProductTypesTest : public ::testing::TestWithParam<const char*> {
 protected:
  void Run(const std::vector<Case>& cases, double low, double high,
           double tolerance) {
    for (const Case& c : cases) {
      for (const Size& s : kTypeSizes) {
        HarnessOptions options = Exact(GetParam());
        options.low = low;
        options.high = high;
        options.absolute = options.relative = tolerance;
        const std::string hlo = Dot(c, s, GetParam());
        const absl::Status status = CompareKernel(hlo, options).status();
        // v2 and v3 keep four bits in a byte; that has no kernels.
        const bool bytes =
            GenerationOf(GetParam()) < 4 &&
            (hlo::BitWidth(c.lhs) == 4 || hlo::BitWidth(c.rhs) == 4);
        if (bytes) {
          EXPECT_TRUE(absl::IsUnimplemented(status)) << hlo;
        } else {
          EXPECT_OK(status) << hlo;
        }
      }
    }
  }
};

TEST_P(ProductTypesTest, WholeNumbersAreExact) {
  using P = PrimitiveType;
  Run({{P::kS8, P::kS8, P::kS32}, {P::kU8, P::kS8, P::kS32}}, -100, 100, 0);
  Run({{P::kS4, P::kS4, P::kS32}}, -8, 7, 0);
  Run({{P::kU8, P::kU8, P::kS32}}, 0, 255, 0);
  Run({{P::kU4, P::kS4, P::kS32}, {P::kS4, P::kS8, P::kS32}}, 0, 7, 0);
}

TEST_P(ProductTypesTest, EightBitFloatsAreExact) {
  using P = PrimitiveType;
  Run({{P::kF8E4M3Fn, P::kF8E4M3Fn, P::kF32},
       {P::kF8E5M2, P::kF8E5M2, P::kF32},
       {P::kF8E4M3B11Fnuz, P::kF8E4M3B11Fnuz, P::kF32}},
      -1, 1, 1e-5);
  Run({{P::kF8E5M2, P::kF8E4M3Fn, P::kBf16}, {P::kF8E4M3Fn, P::kBf16, P::kF32}},
      -1, 1, 0.02);
}

// By a last bit: sums of another order may be rounded to another number.
TEST_P(ProductTypesTest, SumsAreRoundedToEightBitFloats) {
  using P = PrimitiveType;
  Run({{P::kF8E4M3Fn, P::kF8E4M3Fn, P::kF8E4M3Fn},
       {P::kF8E5M2, P::kF8E4M3Fn, P::kF8E5M2},
       {P::kBf16, P::kBf16, P::kF8E4M3Fn},
       {P::kF8E4M3B11Fnuz, P::kBf16, P::kF8E4M3B11Fnuz}},
      -0.3, 0.3, 0.13);
}

TEST_P(ProductTypesTest, MixedTypesBecomeBf16) {
  using P = PrimitiveType;
  Run({{P::kBf16, P::kS8, P::kBf16},
       {P::kF32, P::kBf16, P::kF32},
       {P::kS4, P::kBf16, P::kF32}},
      -3, 3, 0.05);
}

TEST_P(ProductTypesTest, HighPrecisionSplitsF32) {
  using P = PrimitiveType;
  Run({{P::kF32, P::kF32, P::kF32, "high"}}, -1, 1, 3e-4);
  Run({{P::kF32, P::kF32, P::kF32, "highest"},
       {P::kF32, P::kBf16, P::kF32, "highest"}},
      -1, 1, 2e-5);
}

TEST_P(ProductTypesTest, WholeSumsAreScaledInTheEpilogue) {
  using P = PrimitiveType;
  const std::string chip = GetParam();
  const std::string hlo = absl::Substitute(
      R"(HloModule m
fused {
  a = $0 parameter(0)
  b = $1 parameter(1)
  s = f32[] parameter(2)
  d = $2 dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  f = $3 convert(d)
  w = $3 broadcast(s), dimensions={}
  ROOT r = $3 multiply(f, w)
}
ENTRY e {
  a = $0 parameter(0)
  b = $1 parameter(1)
  s = f32[] parameter(2)
  ROOT r = $3 fusion(a, b, s), kind=kOutput, calls=fused
})",
      Text(P::kS8, 40, 300, chip), Text(P::kS8, 300, 200, chip),
      Text(P::kS32, 40, 200, chip), Text(P::kF32, 40, 200, chip));
  EXPECT_OK(CompareKernel(hlo, Exact(chip)).status());
}

// Weights of eight bits, widened on their way in.
TEST_P(ProductTypesTest, ConvertsOfNarrowWeightsAreTheStreams) {
  using P = PrimitiveType;
  const std::string chip = GetParam();
  for (const P narrow : {P::kS8, P::kF8E4M3Fn}) {
    const std::string hlo = absl::Substitute(
        R"(HloModule m
fused {
  a = $0 parameter(0)
  b = $1 parameter(1)
  w = $2 convert(b)
  ROOT d = $3 dot(a, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
ENTRY e {
  a = $0 parameter(0)
  b = $1 parameter(1)
  ROOT r = $3 fusion(a, b), kind=kOutput, calls=fused
})",
        Text(P::kBf16, 40, 300, chip), Text(narrow, 300, 200, chip),
        Text(P::kBf16, 300, 200, chip), Text(P::kF32, 40, 200, chip));
    HarnessOptions options = Exact(chip);
    options.absolute = options.relative = 1e-4;  // order of the sums
    EXPECT_OK(CompareKernel(hlo, options).status()) << hlo;
  }
}

// A conversion that loses something is none of the arrays' own.
TEST(ProductNumbersTest, QuantisedOperandsAreNotTakenAsTheyWere) {
  EXPECT_EQ(CompareKernel(R"(
HloModule m
fused {
  a = f32[32,128] parameter(0)
  b = f32[128,128] parameter(1)
  q = s8[32,128] convert(a)
  p = s8[128,128] convert(b)
  ROOT d = s32[32,128] dot(q, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
ENTRY e {
  a = f32[32,128] parameter(0)
  b = f32[128,128] parameter(1)
  ROOT r = s32[32,128] fusion(a, b), kind=kOutput, calls=fused
})")
                .status()
                .code(),
            absl::StatusCode::kUnimplemented);
}

INSTANTIATE_TEST_SUITE_P(Chips, ProductTypesTest,
                         ::testing::ValuesIn(kAllChips));

TEST(ProductNumbersTest, ChipsTakeWhatTheirArraysKnow) {
  using P = PrimitiveType;
  const auto numbers = [](const char* chip, P type, P out) {
    const auto spec = chips::ChipSpec::Load(chip);
    return NumbersOf(isa::FromChipSpec(*spec), type, type, out, false);
  };
  EXPECT_EQ(numbers("v5e", P::kS8, P::kS32), ArrayNumbers::kS8);
  EXPECT_EQ(numbers("v5e", P::kS4, P::kS32), ArrayNumbers::kS8);
  EXPECT_EQ(numbers("v6e", P::kF8E5M2, P::kF32), ArrayNumbers::kF8E5M2);
  EXPECT_EQ(numbers("v6e", P::kF8E4M3Fn, P::kF32), ArrayNumbers::kBf16);
  EXPECT_EQ(numbers("tpu7x", P::kF8E4M3Fn, P::kF32), ArrayNumbers::kF8E4M3Fn);
  EXPECT_EQ(numbers("tpu7x", P::kS8, P::kS32), ArrayNumbers::kBf16);
  EXPECT_EQ(numbers("v4", P::kS8, P::kS32), ArrayNumbers::kBf16);
}

TEST(ProductNumbersTest, PassesMultiplyPartsThatMatter) {
  hlo::DotAttrs dot;
  EXPECT_EQ(PassesOf(dot, PrimitiveType::kF32, PrimitiveType::kF32).size(), 1);
  dot.precision.operands = {hlo::Precision::kHigh, hlo::Precision::kDefault};
  EXPECT_EQ(PassesOf(dot, PrimitiveType::kF32, PrimitiveType::kF32).size(), 3);
  dot.precision.operands = {hlo::Precision::kHighest, hlo::Precision::kHighest};
  EXPECT_EQ(PassesOf(dot, PrimitiveType::kF32, PrimitiveType::kF32).size(), 6);
  EXPECT_EQ(PassesOf(dot, PrimitiveType::kBf16, PrimitiveType::kF32).size(), 3);
  EXPECT_EQ(PassesOf(dot, PrimitiveType::kBf16, PrimitiveType::kBf16).size(),
            1);
}

// Weights of bytes are made bf16 on their way to the arrays of v4, each time
// that they are pushed: each array has columns of its own.
TEST(ProductNumbersTest, ConversionsOfWeightsTakeTime) {
  HarnessOptions options;
  options.chip = "v4";
  options.in_vmem = {1};
  ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel, KernelOf(R"(HloModule m
ENTRY e {
  a = s8[1024,1024] parameter(0)
  b = s8[1024,4096] parameter(1)
  ROOT d = s32[1024,4096] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})",
                                                          options));
  EXPECT_THAT(kernel.note, ::testing::HasSubstr("n 4 m 1")) << kernel.note;
}

}  // namespace
}  // namespace ptxla::lowering
