// Steps of a product whose blocks end within a register of 16 rows.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/hlo_backend/lowering/products/product_tolerance.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

std::string Product(int rows, absl::string_view result) {
  return absl::Substitute(R"(HloModule m
ENTRY e {
  a = bf16[$0,384] parameter(0)
  b = bf16[384,300] parameter(1)
  ROOT d = $1[$0,300] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})",
                          rows, result);
}

// So little VMEM makes several blocks of rows, some of an odd number of tiles.
TEST(HalfRegistersTest, BlocksOfAnOddNumberOfTilesEqualTheEvaluator) {
  for (const char* chip : {"v5e", "v5p", "v6e", "tpu7x"}) {
    ASSERT_OK_AND_ASSIGN(chips::ChipSpec spec, chips::ChipSpec::Load(chip));
    ASSERT_OK_AND_ASSIGN(
        spec, spec.WithValue("policy.window_bytes", 1.1 * (1 << 20)));
    int odd = 0;
    for (const int rows : {350, 352, 840, 1000}) {
      for (const char* result : {"bf16", "f32"}) {
        HarnessOptions options = ProductOn(chip);
        options.spec = &spec;
        ASSERT_OK_AND_ASSIGN(const HarnessResult run,
                             CompareKernel(Product(rows, result), options));
        for (const isa::Window& w : run.kernel.windows) {
          for (const isa::WindowDim& d : w.dims) {
            odd += d.grid_dim >= 0 && d.extent == (rows + 7) / 8 &&
                   d.block % 2 == 1 && d.block > 1;
          }
        }
      }
    }
    EXPECT_GT(odd, 0) << chip;
  }
}

}  // namespace
}  // namespace ptxla::lowering
