// Rows added to tables of one value, which nobody has written: block by block,
// bundles against the evaluator.
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// Rows added to a table of one value that nobody has written.
struct OneValue {
  int table, width;
  const char* indices;
  int rows;
  const char* value = "0";
  const char* body = "y = f32[] parameter(1) ROOT s = f32[] add(x, y)";
  const char* stored = "f32";

  std::string Hlo() const {
    const bool rounds = stored[0] == 'b';
    return absl::Substitute(
        R"(HloModule m
f {
  x = f32[] parameter(0)
  $0
}
filled {
  index = $1 parameter(0)
  rows = f32[$2,$3] parameter(1)
  v = f32[] constant($4)
  table = f32[$5,$3] broadcast(v), dimensions={}
  $6 = f32[$5,$3] scatter(table, index, rows), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f
  $7
}
ENTRY e {
  index = $1 parameter(0)
  rows = f32[$2,$3] parameter(1)
  ROOT g = $8[$5,$3] fusion(index, rows), kind=kCustom, calls=filled, backend_config="filled scatter"
})",
        body, indices, rows, width, value, table, rounds ? "sums" : "ROOT sums",
        rounds ? absl::Substitute("ROOT r = bf16[$0,$1] convert(sums)", table,
                                  width)
               : "",
        stored);
  }
};

TEST(FilledScatterTest, ATableOfOneValueIsWrittenBlockByBlock) {
  for (const char* chip : {"v2", "v4", "v5e", "v6e", "tpu7x"}) {
    for (const auto& [table, width, indices, rows] :
         std::vector<std::tuple<int, int, const char*, int>>{
             {20001, 1000, "s32[150]", 150},
             {20000, 1024, "s32[150,1]", 150},
             {150000, 64, "u32[7]", 7}}) {
      HarnessOptions options;
      options.chip = chip;
      options.low = indices[0] == 'u' ? 0 : -2;  // before the first: left out
      options.high = 5000;
      options.relative = 1e-5;
      for (const bool in_vmem : {false, true}) {
        if (in_vmem) options.in_vmem = {1};
        auto result =
            CompareKernel(OneValue{table, width, indices, rows}.Hlo(), options);
        ASSERT_OK(result.status()) << chip << " " << table;
        EXPECT_THAT(result->kernel.note, ::testing::HasSubstr(" blocks of "));
      }
    }
  }
}

TEST(FilledScatterTest, SumsAreRoundedBlockByBlock) {
  for (const char* chip : {"v4", "v5e", "v6e"}) {
    for (const auto& [table, width] :
         std::vector<std::pair<int, int>>{{20001, 1000}, {127, 2560}}) {
      HarnessOptions options;
      options.chip = chip;
      options.low = -2;
      options.high = 120;
      OneValue sums{table, width, "s32[150]", 150};
      sums.stored = "bf16";
      EXPECT_OK(CompareKernel(sums.Hlo(), options).status())
          << chip << " " << table;
    }
  }
}

TEST(FilledScatterTest, BlocksMayHaveAnyNumberOfRows) {
  HarnessOptions options;
  options.chip = "v5e";
  options.low = options.high = 4711;  // one block has all
  options.relative = 1e-4;
  const OneValue sums{40000, 128, "s32[1000]", 1000};
  EXPECT_OK(CompareKernel(sums.Hlo(), options).status());
}

TEST(FilledScatterTest, TheLastOfEqualIndicesReplaces) {
  HarnessOptions options;
  options.chip = "v5e";
  options.low = 0;
  options.high = 20;
  const OneValue put{40000, 128,  "s32[129]",
                     129,   "-1", "ROOT y = f32[] parameter(1)"};
  EXPECT_OK(CompareKernel(put.Hlo(), options).status());
}

TEST(FilledScatterTest, ATableOfOneValueThatFitsIsFilledInVmem) {
  for (const char* chip : {"v3", "v5e", "v6e"}) {
    for (const auto& [table, width] :
         std::vector<std::pair<int, int>>{{20, 1000}, {3, 64}, {301, 128}}) {
      for (const std::vector<int>& in_vmem :
           std::vector<std::vector<int>>{{}, {2}, {1}, {1, 2}}) {
        HarnessOptions options;
        options.chip = chip;
        options.low = -2;
        options.high = 25;
        options.relative = 1e-5;
        options.in_vmem = in_vmem;
        auto result = CompareKernel(
            OneValue{table, width, "s32[152]", 152, "1.5"}.Hlo(), options);
        ASSERT_OK(result.status()) << chip << " " << table;
        EXPECT_EQ(result->kernel.note, "table in VMEM, 128 rows per step");
      }
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
