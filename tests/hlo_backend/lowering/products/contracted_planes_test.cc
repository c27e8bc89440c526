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

}  // namespace
}  // namespace ptxla::lowering
