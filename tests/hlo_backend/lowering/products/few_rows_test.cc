// Do products of few rows, whose steps load weights and hardly multiply, use
// all MXUs, and are they right?
#include <string>

#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/hlo_backend/lowering/products/product_tolerance.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

std::string Product(int64_t rows, int64_t k, int64_t columns) {
  return absl::Substitute(R"(HloModule m
ENTRY e {
  a = f32[$0,$1]{1,0:T(8,128)} parameter(0)
  b = f32[$1,$2]{1,0:T(8,128)} parameter(1)
  ROOT d = f32[$0,$2]{1,0:T(8,128)} dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})",
                          rows, k, columns);
}

// v4 has one load slot for four MXUs and 32 registers: 64 cycles of loads for
// 8 of matmuls.
TEST(FewRowsTest, FourMxusFitTheRegistersOfV4) {
  for (const int64_t rows : {8, 16, 33}) {
    HarnessOptions options = ProductOn("v4");
    options.in_vmem = {0, 1};
    ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel,
                         KernelOf(Product(rows, 4096, 4096), options));
    EXPECT_THAT(kernel.note, ::testing::HasSubstr("batch 1 n 4 m 1")) << rows;
  }
}

TEST(FewRowsTest, EqualTheEvaluator) {
  for (const char* chip : {"v4", "v5e", "v6e"}) {
    for (const int64_t rows : {3, 8, 24}) {
      HarnessOptions options = ProductOn(chip);
      options.in_vmem = {0, 1};
      EXPECT_OK(CompareKernel(Product(rows, 1000, 700), options).status())
          << chip << " " << rows;
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
