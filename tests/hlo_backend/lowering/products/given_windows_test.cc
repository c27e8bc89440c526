// Windows that a scheduled module comes with: do products take them, and their
// own where no kernel can have them?
#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "base/status.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/hlo_backend/lowering/products/product_tolerance.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

std::string Config(const std::string& output, const std::string& iterations) {
  return absl::Substitute(
      R"(backend_config={"flag_configs":[],"window_config":{"kernel_window_bounds":["32","2"],"output_window_bounds":[$0],"iteration_bounds":[$1],"estimated_cycles":"93156"}})",
      output, iterations);
}

// Of [72, 512], K = 384.
absl::StatusOr<std::vector<int64_t>> GridOf(const std::string& output,
                                            const std::string& iterations,
                                            const std::string& layout = "") {
  ASSIGN_OR_RETURN(
      const HarnessResult result,
      CompareKernel(absl::Substitute(R"(HloModule m
ENTRY e {
  x = f32[72,384] parameter(0)
  w = f32[384,512] parameter(1)
  ROOT d = f32[72,512]$0 dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, $1
})",
                                     layout, Config(output, iterations)),
                    ProductOn("v6e", 0.1)));
  return std::vector<int64_t>(result.kernel.grid.begin(),
                              result.kernel.grid.end());
}

// Batch, columns, rows, K: columns are walked outside of rows, as there.
TEST(GivenWindowsTest, StepsAreThoseOfTheSchedule) {
  {
    ASSERT_OK_AND_ASSIGN(const auto grid,
                         GridOf(R"("4","2")", R"("2","3","1")"));
    EXPECT_THAT(grid, ElementsAre(1, 2, 3, 1));
  }
  {
    ASSERT_OK_AND_ASSIGN(const auto grid,
                         GridOf(R"("9","1")", R"("4","1","1")"));
    EXPECT_THAT(grid, ElementsAre(1, 1, 4, 1));
  }
}

TEST(GivenWindowsTest, WhatIsLeftOfTheStepsIsAlongK) {
  {
    ASSERT_OK_AND_ASSIGN(const auto grid,
                         GridOf(R"("9","4")", R"("1","1","2")"));
    EXPECT_THAT(grid, ElementsAre(1, 1, 1, 2));
  }
}

// Dimensions of the result as it lies: 512 rows of 72 columns.
TEST(GivenWindowsTest, WindowsAreOfTheResultAsItLies) {
  {
    ASSERT_OK_AND_ASSIGN(const auto grid,
                         GridOf(R"("16","1")", R"("4","1","1")", "{0,1}"));
    EXPECT_THAT(grid, ElementsAre(1, 4, 1, 1));
  }
}

// Too many dimensions, and steps that the windows do not give.
TEST(GivenWindowsTest, OthersAreLeftAlone) {
  ASSERT_OK_AND_ASSIGN(const auto own, GridOf(R"("1","9","4","1")", R"("1")"));
  {
    ASSERT_OK_AND_ASSIGN(const auto grid, GridOf(R"("4","2")", R"("5")"));
    EXPECT_THAT(grid, ElementsAreArray(own));
  }
  {
    ASSERT_OK_AND_ASSIGN(const auto grid, GridOf(R"("x")", R"("5")"));
    EXPECT_THAT(grid, ElementsAreArray(own));
  }
}

// Planes of a batch, in a fusion.
TEST(GivenWindowsTest, PlanesOfAFusionAreCut) {
  ASSERT_OK_AND_ASSIGN(
      const HarnessResult result,
      CompareKernel(absl::Substitute(R"(HloModule m
f {
  x = bf16[6,40,128] parameter(0)
  w = bf16[6,128,256] parameter(1)
  d = f32[6,40,256] dot(x, w), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
  ROOT r = bf16[6,40,256] convert(d)
}
ENTRY e {
  x = bf16[6,40,128] parameter(0)
  w = bf16[6,128,256] parameter(1)
  ROOT r = bf16[6,40,256] fusion(x, w), kind=kOutput, calls=f, $0
})",
                                     Config(R"("2","5","1")", R"("3","2")")),
                    ProductOn("v5e", 0.1)));
  EXPECT_THAT(result.kernel.grid, ElementsAre(3, 1, 2, 1));
}

}  // namespace
}  // namespace ptxla::lowering
