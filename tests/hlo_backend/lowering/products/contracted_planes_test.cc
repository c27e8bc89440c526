// Products that contract planes beside a dimension of their matrices: does each
// plane of K count once, and what pads its rows not at all?
#include <string>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/hlo_backend/lowering/products/product_tolerance.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// The gradient of a weight: rows are K, on both sides.
std::string Gradient(const std::string& type, int64_t planes, int64_t rows,
                     int64_t m, int64_t n) {
  return absl::Substitute(R"(HloModule m
ENTRY e {
  x = $0[$1,$2,$3] parameter(0)
  g = $0[$1,$2,$4] parameter(1)
  ROOT d = f32[$3,$4] dot(x, g), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}
})",
                          type, planes, rows, m, n);
}

TEST(ContractedPlanesTest, RowsOfSeveralPlanesEqualTheEvaluator) {
  for (const char* chip : {"v2", "v4", "v5e", "v6e", "tpu7x"}) {
    for (const char* type : {"bf16", "f32"}) {
      for (const int64_t rows : {7, 133}) {
        EXPECT_OK(CompareKernel(Gradient(type, 3, rows, 72, 200),
                                ProductOn(chip, 0.1))
                      .status())
            << chip << " " << type << " " << rows;
      }
    }
  }
}

// The gradient of patches, whose batch lies in the rows: 16 rows of a plane
// would be an eighth of what a weight tile holds.
TEST(ContractedPlanesTest, PlanesOfWholeTilesAreRowsOfOneMatrix) {
  for (const char* type : {"bf16", "f32"}) {
    ASSERT_OK_AND_ASSIGN(
        const HarnessResult r,
        CompareKernel(Gradient(type, 196, 16, 72, 200), ProductOn("v5e", 0.1)));
    int64_t steps = 1;
    for (const int64_t n : r.kernel.grid) steps *= n;
    EXPECT_LT(steps, 8) << type;
  }
}

// K on the lanes of both, and of one.
TEST(ContractedPlanesTest, LanesOfSeveralPlanesEqualTheEvaluator) {
  for (const char* chip : {"v3", "v6e"}) {
    EXPECT_OK(CompareKernel(R"(HloModule m
ENTRY e {
  x = bf16[4,40,136] parameter(0)
  g = bf16[4,72,136] parameter(1)
  ROOT d = bf16[40,72] dot(x, g), lhs_contracting_dims={0,2}, rhs_contracting_dims={0,2}
})",
                            ProductOn(chip, 0.1))
                  .status())
        << chip;
    EXPECT_OK(CompareKernel(R"(HloModule m
ENTRY e {
  x = f32[2,40,136] parameter(0)
  g = bf16[2,136,72] parameter(1)
  ROOT d = f32[40,72] dot(x, g), lhs_contracting_dims={2,0}, rhs_contracting_dims={1,0}
})",
                            ProductOn(chip, 0.1))
                  .status())
        << chip;
  }
}

// As libtpu lays them out: planes are named first, rows are the minor
// dimension.
TEST(ContractedPlanesTest, LayoutsSayWhichDimensionIsThePlanes) {
  EXPECT_OK(CompareKernel(R"(HloModule m
ENTRY e {
  x = bf16[8,128,300]{1,2,0} parameter(0)
  g = bf16[8,128,64]{1,2,0} parameter(1)
  ROOT d = f32[300,64] dot(x, g), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}
})",
                          ProductOn("v5e", 0.1))
                .status());
}

// Planes that take two or three steps each, the last of them shorter.
TEST(ContractedPlanesTest, StepsOfAPlaneEndAtItsEnd) {
  for (const char* chip : {"v4", "v6e"}) {
    for (const int64_t steps : {2, 3}) {
      ASSERT_OK_AND_ASSIGN(
          const HarnessResult result,
          CompareKernel(absl::Substitute(R"(HloModule m
ENTRY e {
  x = f32[2,$0,72] parameter(0)
  g = f32[2,$0,200] parameter(1)
  ROOT d = f32[72,200] dot(x, g), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}, backend_config={"window_config":{"output_window_bounds":["9","2"],"iteration_bounds":["1","1","$1"]}}
})",
                                         256 * steps - 61, 2 * steps),
                        ProductOn(chip, 0.1)));
      EXPECT_THAT(result.kernel.grid,
                  ::testing::ElementsAre(1, 1, 1, 2, steps));
    }
  }
}

// The gradient of logits is computed from them on its way: values per column
// differ from plane to plane, labels are compared with the row's number.
TEST(ContractedPlanesTest, AComputedOperandEqualsTheEvaluator) {
  for (const char* chip : {"v3", "v5e", "v6e"}) {
    for (const int64_t rows : {40, 300}) {
      EXPECT_OK(CompareKernel(absl::Substitute(R"(HloModule m
f {
  x = bf16[5,$0,136] parameter(0)
  label = s32[5,136] parameter(1)
  top = bf16[5,136] parameter(2)
  valid = pred[5,136] parameter(3)
  g = bf16[5,72,136] parameter(4)
  wide = f32[5,$0,136] convert(x)
  ft = f32[5,136] convert(top)
  tb = f32[5,$0,136] broadcast(ft), dimensions={0,2}
  c = f32[5,$0,136] subtract(wide, tb)
  number = s32[5,$0,136] iota(), iota_dimension=1
  lb = s32[5,$0,136] broadcast(label), dimensions={0,2}
  same = pred[5,$0,136] compare(number, lb), direction=EQ
  vb = pred[5,$0,136] broadcast(valid), dimensions={0,2}
  hit = pred[5,$0,136] and(same, vb)
  one = f32[] constant(1)
  ones = f32[5,$0,136] broadcast(one), dimensions={}
  zero = f32[] constant(0)
  zeros = f32[5,$0,136] broadcast(zero), dimensions={}
  hot = f32[5,$0,136] select(hit, ones, zeros)
  d = f32[5,$0,136] subtract(c, hot)
  narrow = bf16[5,$0,136] convert(d)
  ROOT r = bf16[$0,72] dot(narrow, g), lhs_contracting_dims={0,2}, rhs_contracting_dims={0,2}
}
ENTRY e {
  x = bf16[5,$0,136] parameter(0)
  label = s32[5,136] parameter(1)
  top = bf16[5,136] parameter(2)
  valid = pred[5,136] parameter(3)
  g = bf16[5,72,136] parameter(4)
  ROOT r = bf16[$0,72] fusion(x, label, top, valid, g), kind=kOutput, calls=f
})",
                                               rows),
                              ProductOn(chip, 0.1))
                    .status())
          << chip << " " << rows;
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
