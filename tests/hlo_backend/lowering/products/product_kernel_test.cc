// Do product kernels compute what HLO says? Bundles against the evaluator, on
// random shapes, types, layouts and chips.
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "isa/from_chip_spec.h"
#include "isa/timing.h"
#include "tests/hlo_backend/lowering/products/product_tolerance.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

std::string Array(bool f32, int64_t batch, int64_t rows, int64_t cols,
                  bool column_major) {
  return absl::StrCat(
      f32 ? "f32[" : "bf16[", batch > 1 ? absl::StrCat(batch, ",") : "", rows,
      ",", cols, "]{",
      column_major ? (batch > 1 ? "1,2" : "0,1") : (batch > 1 ? "2,1" : "1,0"),
      batch > 1 ? ",0" : "", f32 ? ":T(8,128)}" : ":T(8,128)(2,1)}");
}

// f16 becomes bf16 before the arrays see it, the sums f16 again.
TEST(HalfPrecisionProductTest, EqualsTheEvaluator) {
  for (const char* chip : {"v4", "v5e", "v6e"}) {
    for (const char* dims : {"128,128,128", "7,129,200", "64,448,320"}) {
      for (const bool transposed : {false, true}) {
        const std::vector<std::string> d = absl::StrSplit(dims, ',');
        const std::string hlo = absl::Substitute(
            R"(HloModule m
ENTRY e {
  a = f16[$0]{1,0:T(8,128)(2,1)} parameter(0)
  b = f16[$1]{1,0:T(8,128)(2,1)} parameter(1)
  ROOT d = f16[$2]{1,0:T(8,128)(2,1)} dot(a, b), lhs_contracting_dims={$3}, rhs_contracting_dims={$4}
})",
            transposed ? d[2] + "," + d[0] : d[0] + "," + d[2],
            transposed ? d[1] + "," + d[2] : d[2] + "," + d[1],
            d[0] + "," + d[1], transposed ? 0 : 1, transposed ? 1 : 0);
        HarnessOptions options = ProductOn(chip, 0.02);
        options.absolute = 0.1;
        EXPECT_OK(CompareKernel(hlo, options).status()) << chip << hlo;
      }
    }
  }
}

class ProductKernelTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ProductKernelTest, RandomProductsEqualTheEvaluator) {
  std::mt19937 random(11);
  static constexpr int64_t kSizes[] = {1,   7,   8,   16,  33,  64,
                                       100, 127, 128, 129, 200, 300};
  const auto size = [&] { return kSizes[random() % 12]; };
  for (int n = 0; n < 24; ++n) {
    const int64_t batch = random() % 3 == 0 ? 2 + random() % 3 : 1;
    const int64_t m = size(), cols = size(), k = size();
    const bool lhs_t = random() % 3 == 0, rhs_t = random() % 2 == 0;
    const bool f32[] = {random() % 2 == 0, random() % 2 == 0,
                        random() % 2 == 0};
    const int first = batch > 1 ? 1 : 0;
    const std::string hlo = absl::StrCat(
        "HloModule m\nENTRY e {\n  a = ",
        lhs_t ? Array(f32[0], batch, k, m, false)
              : Array(f32[0], batch, m, k, false),
        " parameter(0)\n  b = ",
        rhs_t ? Array(f32[1], batch, cols, k, false)
              : Array(f32[1], batch, k, cols, false),
        " parameter(1)\n  ROOT d = ",
        Array(f32[2], batch, m, cols, random() % 4 == 0), " dot(a, b), ",
        batch > 1 ? "lhs_batch_dims={0}, rhs_batch_dims={0}, " : "",
        "lhs_contracting_dims={", first + (lhs_t ? 0 : 1),
        "}, rhs_contracting_dims={", first + (rhs_t ? 1 : 0), "}\n}\n");
    HarnessOptions options = ProductOn(GetParam(), 0.02);
    options.seed = n;
    EXPECT_OK(CompareKernel(hlo, options).status()) << hlo;
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, ProductKernelTest,
                         ::testing::Values("v2", "v3", "v4", "v5e", "v5p",
                                           "v6e"));

TEST(ProductKernelTest, AnEpilogueAddsBiasAndAppliesGelu) {
  for (const char* chip : {"v5e", "v6e"}) {
    EXPECT_OK(CompareKernel(R"(
HloModule m
fused {
  x = bf16[100,256] parameter(0)
  w = bf16[256,300] parameter(1)
  bias = bf16[300] parameter(2)
  scale = f32[] parameter(3)
  d = bf16[100,300] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  rows = bf16[100,300] broadcast(bias), dimensions={1}
  z = bf16[100,300] add(d, rows)
  zf = f32[100,300] convert(z)
  s = f32[100,300] broadcast(scale), dimensions={}
  y = f32[100,300] multiply(zf, s)
  t = f32[100,300] tanh(y)
  ROOT r = bf16[100,300] convert(t)
}
ENTRY e {
  x = bf16[100,256] parameter(0)
  w = bf16[256,300] parameter(1)
  bias = bf16[300] parameter(2)
  scale = f32[] parameter(3)
  ROOT f = bf16[100,300] fusion(x, w, bias, scale), kind=kOutput, calls=fused
})",
                            ProductOn(chip, 0.02))
                  .status())
        << chip;
  }
}

// Finished sums wait in VMEM for their epilogue, which runs under the products
// of the next columns.
TEST(ProductKernelTest, AnEpilogueOfManyOperationsIsPutOff) {
  for (const char* chip : {"v4", "v5e", "v6e"}) {
    for (const char* m : {"256", "200"}) {
      EXPECT_OK(CompareKernel(absl::Substitute(R"(
HloModule m
fused {
  x = bf16[$0,600] parameter(0)
  w = bf16[600,640] parameter(1)
  scale = f32[] parameter(2)
  d = f32[$0,640] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[$0,640] broadcast(scale), dimensions={}
  y = f32[$0,640] multiply(d, s)
  t = f32[$0,640] erf(y)
  u = f32[$0,640] erf(d)
  r = f32[$0,640] add(t, u)
  o = bf16[$0,640] convert(r)
  ROOT q = (bf16[$0,640], f32[$0,640]) tuple(o, d)
}
ENTRY e {
  x = bf16[$0,600] parameter(0)
  w = bf16[600,640] parameter(1)
  scale = f32[] parameter(2)
  ROOT f = (bf16[$0,640], f32[$0,640]) fusion(x, w, scale), kind=kOutput, calls=fused
})",
                                               m),
                              ProductOn(chip, 0.02))
                    .status())
          << chip << " " << m;
    }
  }
}

// Dropout and a conversion of the weights: more registers than a first
// placement counts on.
TEST(ProductKernelTest, AWideEpilogueFitsTheRegistersOfEveryChip) {
  for (const char* chip : {"v4", "v5p", "v6e", "tpu7x"}) {
    EXPECT_OK(CompareKernel(R"(
HloModule m
fused {
  w = f32[512,1024] parameter(0)
  wb = bf16[512,1024] convert(w)
  x = bf16[1024,1024] parameter(1)
  d = bf16[1024,512] dot(x, wb), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  bias = bf16[512] parameter(2)
  rows = bf16[1024,512] broadcast(bias), dimensions={1}
  z = bf16[1024,512] add(d, rows)
  zf = f32[1024,512] convert(z)
  one = u8[] constant(1)
  ones = u8[1024,512] broadcast(one), dimensions={}
  bits = u8[1024,512] parameter(3)
  shifted = u8[1024,512] shift-right-logical(bits, ones)
  uniform = bf16[1024,512] convert(shifted)
  unit = bf16[] constant(0.0078125)
  units = bf16[1024,512] broadcast(unit), dimensions={}
  draw = bf16[1024,512] multiply(uniform, units)
  keep = bf16[] parameter(4)
  keeps = bf16[1024,512] broadcast(keep), dimensions={}
  kept = pred[1024,512] compare(draw, keeps), direction=LT
  mask = f32[1024,512] convert(kept)
  scale = f32[] parameter(5)
  scales = f32[1024,512] broadcast(scale), dimensions={}
  scaled = f32[1024,512] multiply(mask, scales)
  ROOT r = f32[1024,512] multiply(zf, scaled)
}
ENTRY e {
  w = f32[512,1024] parameter(0)
  x = bf16[1024,1024] parameter(1)
  bias = bf16[512] parameter(2)
  bits = u8[1024,512] parameter(3)
  keep = bf16[] parameter(4)
  scale = f32[] parameter(5)
  ROOT f = f32[1024,512] fusion(w, x, bias, bits, keep, scale), kind=kOutput, calls=fused
})",
                            ProductOn(chip, 0.02))
                  .status())
        << chip;
  }
}

TEST(ProductKernelTest, AnEpilogueReadsItsShapeAndGivesSeveralResults) {
  for (const char* chip : {"v4", "v5e", "v6e"}) {
    EXPECT_OK(CompareKernel(R"(
HloModule m
fused {
  x = bf16[3,64,128] parameter(0)
  w = bf16[3,128,64] parameter(1)
  residual = f32[3,64,64] parameter(2)
  d = f32[3,64,64] dot(x, w), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}
  sum = f32[3,64,64] add(d, residual)
  half = bf16[3,64,64] convert(sum)
  ROOT t = (f32[3,64,64], bf16[3,64,64]) tuple(sum, half)
}
ENTRY e {
  x = bf16[3,64,128] parameter(0)
  w = bf16[3,128,64] parameter(1)
  residual = f32[3,64,64] parameter(2)
  f = (f32[3,64,64], bf16[3,64,64]) fusion(x, w, residual), kind=kOutput, calls=fused
  g0 = f32[3,64,64] get-tuple-element(f), index=0
  g1 = bf16[3,64,64] get-tuple-element(f), index=1
  ROOT t = (f32[3,64,64], bf16[3,64,64]) tuple(g0, g1)
})",
                            ProductOn(chip, 0.02))
                  .status())
        << chip;
  }
}

TEST(ProductKernelTest, AnEpilogueReadsAndGivesMasks) {
  for (const char* chip : {"v4", "v5e", "v6e"}) {
    for (const char* dims : {"100,130", "300,128"}) {
      const std::string hlo = absl::Substitute(R"(
HloModule m
fused {
  x = bf16[$0,64] parameter(0)
  w = bf16[64,$1] parameter(1)
  keep = u8[$0,$1] parameter(2)
  d = f32[$0,$1] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  z = f32[] constant(0)
  zeros = f32[$0,$1] broadcast(z), dimensions={}
  positive = pred[$0,$1] compare(d, zeros), direction=GT
  factor = f32[$0,$1] convert(keep)
  scaled = f32[$0,$1] multiply(d, factor)
  ROOT t = (f32[$0,$1], pred[$0,$1]) tuple(scaled, positive)
}
ENTRY e {
  x = bf16[$0,64] parameter(0)
  w = bf16[64,$1] parameter(1)
  keep = u8[$0,$1] parameter(2)
  f = (f32[$0,$1], pred[$0,$1]) fusion(x, w, keep), kind=kOutput, calls=fused
  g0 = f32[$0,$1] get-tuple-element(f), index=0
  g1 = pred[$0,$1] get-tuple-element(f), index=1
  ROOT t = (f32[$0,$1], pred[$0,$1]) tuple(g0, g1)
})",
                                               std::string(dims).substr(0, 3),
                                               std::string(dims).substr(4));
      HarnessOptions options = ProductOn(chip, 0.02);
      options.low = -3;
      options.high = 3;
      EXPECT_OK(CompareKernel(hlo, options).status()) << chip << " " << dims;
    }
  }
}

// As scalars, along the columns and of the product's shape.
TEST(ProductKernelTest, AnEpilogueReadsAndGivesNarrowTypes) {
  for (const char* chip : {"v2", "v3", "v4", "v5e", "v6e", "tpu7x"}) {
    for (const char* type : {"f16", "bf16", "s8", "u8", "pred"}) {
      for (const char* dims : {"100,130", "300,128", "007,700"}) {
        const std::string hlo = absl::Substitute(
            R"(
HloModule m
fused {
  x = bf16[$0,64] parameter(0)
  w = bf16[64,$1] parameter(1)
  s = $2[] parameter(2)
  c = $2[$1] parameter(3)
  t = $2[$0,$1] parameter(4)
  d = f32[$0,$1] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  sb = $2[$0,$1] broadcast(s), dimensions={}
  cb = $2[$0,$1] broadcast(c), dimensions={1}
  sf = f32[$0,$1] convert(sb)
  cf = f32[$0,$1] convert(cb)
  tf = f32[$0,$1] convert(t)
  y = f32[$0,$1] add(d, sf)
  z = f32[$0,$1] multiply(y, cf)
  v = f32[$0,$1] add(z, tf)
  n = $2[$0,$1] $3
  ROOT r = (f32[$0,$1], $2[$0,$1]) tuple(v, n)
}
ENTRY e {
  x = bf16[$0,64] parameter(0)
  w = bf16[64,$1] parameter(1)
  s = $2[] parameter(2)
  c = $2[$1] parameter(3)
  t = $2[$0,$1] parameter(4)
  f = (f32[$0,$1], $2[$0,$1]) fusion(x, w, s, c, t), kind=kOutput, calls=fused
  g0 = f32[$0,$1] get-tuple-element(f), index=0
  g1 = $2[$0,$1] get-tuple-element(f), index=1
  ROOT r = (f32[$0,$1], $2[$0,$1]) tuple(g0, g1)
})",
            std::string(dims).substr(0, 3), std::string(dims).substr(4), type,
            std::string(type) == "pred" ? "compare(v, tf), direction=GT"
                                        : "convert(d)");
        HarnessOptions options = ProductOn(chip, 0.02);
        // Whole numbers that every type has.
        options.low = std::string(type) == "u8" ? 0 : -1;
        options.high = 1;
        EXPECT_OK(CompareKernel(hlo, options).status())
            << chip << " " << type << " " << dims;
        options.in_vmem = {2, 4};
        EXPECT_OK(CompareKernel(hlo, options).status())
            << chip << " in VMEM " << type << " " << dims;
      }
    }
  }
}

TEST(ProductKernelTest, BundlesOfACubeAreThoseOfTheTpuCompiler) {
  // tpu_slots.md section 3, 1024^3 bf16, outside the loop included.
  const std::pair<const char*, int64_t> kExpected[] = {
      {"v4", 18143}, {"v5e", 17273}, {"v6e", 4386}};
  for (const auto& [chip, bundles] : kExpected) {
    HarnessOptions options = ProductOn(chip, 0.02);
    options.in_vmem = {0, 1};  // the TPU compiler has copied operands there
    // Waits for DMAs are no bundles.
    ASSERT_OK_AND_ASSIGN(const chips::ChipSpec loaded,
                         chips::ChipSpec::Load(chip));
    ASSERT_OK_AND_ASSIGN(const chips::ChipSpec spec,
                         loaded.WithValue("policy.step_sync", 0));
    options.spec = &spec;
    ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel, KernelOf(R"(
HloModule m
ENTRY e {
  a = bf16[1024,1024] parameter(0)
  b = bf16[1024,1024] parameter(1)
  ROOT d = bf16[1024,1024] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})",
                                                            options));
    const isa::MachineModel machine =
        isa::FromChipSpec(*chips::ChipSpec::Load(chip));
    const int64_t cycles =
        isa::TimeKernel(kernel, machine).UnstalledCycles(kernel);
    EXPECT_NEAR(static_cast<double>(cycles) / bundles, 1.0, 0.10)
        << chip << ": " << kernel.note;
  }
}

}  // namespace
}  // namespace ptxla::lowering
