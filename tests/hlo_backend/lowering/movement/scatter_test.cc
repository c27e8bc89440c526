// Do scatter kernels add every row where HLO says, equal indices included?
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

std::string AddRows(int width, absl::string_view indices, int table = 20) {
  return absl::Substitute(R"(HloModule m
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}
ENTRY e {
  table = f32[$2,$0] parameter(0)
  index = $1 parameter(1)
  rows = f32[150,$0] parameter(2)
  ROOT g = f32[$2,$0] scatter(table, index, rows), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
})",
                          width, indices, table);
}

TEST(ScatterTest, RowsAddUpWhereIndicesRepeat) {
  for (const char* chip : {"v4", "v5e", "v6e"}) {
    for (int width : {64, 128, 1000, 1024}) {
      for (const char* indices : {"s32[150]", "s32[150,1]"}) {
        HarnessOptions options;
        options.chip = chip;
        options.low = 0;
        options.high = 15;
        options.relative = 1e-5;
        EXPECT_OK(CompareKernel(AddRows(width, indices), options).status())
            << chip << " " << width << " " << indices;
      }
    }
  }
}

TEST(ScatterTest, RowsOutsideTheTableAreLeftOut) {
  HarnessOptions options;
  options.low = -30;
  options.high = 60;
  options.relative = 1e-5;
  EXPECT_OK(CompareKernel(AddRows(128, "s32[150]"), options).status());
}

// Tables that are not worth a place in VMEM, and those without one.
TEST(ScatterTest, RowsInFlightAddUpWhereIndicesRepeat) {
  for (const char* chip : {"v5e", "v6e"}) {
    for (const auto& [width, indices] :
         std::vector<std::pair<int, const char*>>{
             {128, "s32[150]"}, {1000, "s32[150,1]"}, {1100, "u32[150]"}}) {
      HarnessOptions options;
      options.chip = chip;
      options.low = -3;
      options.high = 40;
      options.relative = 1e-5;
      const int table = width == 128 ? 20000 : 3000;
      auto result = CompareKernel(AddRows(width, indices, table), options);
      ASSERT_OK(result.status()) << chip << " " << width << " " << indices;
      EXPECT_EQ(result->kernel.note, "152 rows in flight");
    }
  }
}

TEST(ScatterTest, WithoutRoomForOwnersOneRowFollowsAnother) {
  HarnessOptions options;
  options.chip = "v3";
  options.low = -3;
  options.high = 40;
  options.relative = 1e-5;
  auto result = CompareKernel(AddRows(128, "s32[150]", 40000), options);
  ASSERT_OK(result.status());
  EXPECT_EQ(result->kernel.note, "128 rows per step, one after another");
}

TEST(ScatterTest, ASmallTableIsCopiedOnce) {
  auto kernel = KernelOf(AddRows(128, "s32[150]", 2));
  ASSERT_OK(kernel.status());
  EXPECT_EQ(kernel->note, "table in VMEM, 128 rows per step");
}

}  // namespace
}  // namespace ptxla::lowering
