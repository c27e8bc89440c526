// Do planes take the places that numbers say, and no others?
#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

std::string ReplacePlanes(const char* type, int table, int updates,
                          const char* plane) {
  return absl::Substitute(R"(HloModule m
second {
  x = $0[] parameter(0)
  ROOT y = $0[] parameter(1)
}
ENTRY e {
  table = $0[$1,$3] parameter(0)
  index = s32[$2] parameter(1)
  planes = $0[$2,$3] parameter(2)
  ROOT g = $0[$1,$3] scatter(table, index, planes), update_window_dims={1,2}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=second
})",
                          type, table, updates, plane);
}

HarnessOptions OnChip(const char* chip, const std::vector<int>& in_vmem) {
  HarnessOptions options;
  options.chip = chip;
  options.in_vmem = in_vmem;
  options.low = -3;  // planes that do not exist are left out
  options.high = 9;
  return options;
}

TEST(ScatterReplaceTest, PlanesOfAnyTypeWhereverTheyLie) {
  for (const char* chip : {"v2", "v4", "v5e", "v5p", "v6e", "tpu7x"}) {
    for (const char* type : {"f32", "bf16", "s8"}) {
      for (const std::vector<int>& in_vmem :
           std::vector<std::vector<int>>{{}, {2}, {0, 3}, {0, 1, 2, 3}}) {
        for (const char* plane : {"4,128", "16,65", "64,129"}) {
          EXPECT_OK(CompareKernel(ReplacePlanes(type, 7, 12, plane),
                                  OnChip(chip, in_vmem))
                        .status())
              << chip << " " << type << " " << in_vmem.size() << " " << plane;
        }
      }
    }
  }
}

// Half of SMEM is for scalars: 4,096 words of it on v2 are all that there is.
TEST(ScatterReplaceTest, ManyPlanesComeInSteps) {
  HarnessOptions options = OnChip("v2", {});
  options.high = 700;
  ASSERT_OK_AND_ASSIGN(
      const HarnessResult r,
      CompareKernel(ReplacePlanes("f32", 600, 5003, "8,128"), options));
  EXPECT_GT(r.kernel.grid[0], 1);
}

TEST(ScatterReplaceTest, TheTableIsNotReadOrWrittenBesideThem) {
  ASSERT_OK_AND_ASSIGN(const HarnessResult r,
                       CompareKernel(ReplacePlanes("bf16", 5000, 8, "8,128"),
                                     OnChip("v5e", {})));
  EXPECT_EQ(r.kernel.vmem_bytes, 0);
  // Eight planes there and back, and their numbers.
  EXPECT_LE(r.kernel.work.hbm_bytes, 2 * 8 * 2048 + 512);
}

}  // namespace
}  // namespace ptxla::lowering
