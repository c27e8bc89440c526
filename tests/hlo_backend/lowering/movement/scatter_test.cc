// Do scatter kernels add every row where HLO says, equal indices included?
#include <string>
#include <tuple>
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

TEST(ScatterTest, ATableInVmemIsUpdatedWhereItLies) {
  for (const char* chip : {"v3", "v4", "v5e", "v6e", "tpu7x"}) {
    for (int width : {64, 1000}) {
      for (int table : {20, 301}) {
        HarnessOptions options;
        options.chip = chip;
        options.low = -2;  // rows that do not exist are left out
        options.high = 15;
        options.relative = 1e-5;
        options.in_vmem = {0, 1, 3};
        EXPECT_OK(
            CompareKernel(AddRows(width, "s32[150]", table), options).status())
            << chip << " " << width << " " << table;
      }
    }
  }
}

TEST(ScatterTest, ColumnsAreCombinedByAnyOneOperation) {
  for (const char* chip : {"v3", "v4", "v6e"}) {
    for (const char* root : {"add(x, y)", "maximum(x, y)"}) {
      for (const int rows : {5, 32}) {
        for (const int updates : {128, 300, 700}) {
          HarnessOptions options;
          options.chip = chip;
          options.low = -3;  // columns that do not exist are left out
          options.high = 800;
          options.relative = 1e-5;
          const std::string text = absl::Substitute(R"(HloModule m
f {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT r = f32[] $0
}
ENTRY e {
  table = f32[$1,700] parameter(0)
  index = s32[$2] parameter(1)
  updates = f32[$1,$2] parameter(2)
  ROOT g = f32[$1,700] scatter(table, index, updates), update_window_dims={0}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, index_vector_dim=1, to_apply=f
})",
                                                    root, rows, updates);
          EXPECT_OK(CompareKernel(text, options).status())
              << chip << " " << root << " " << rows << " " << updates;
        }
      }
    }
  }
}

std::string Scatter(absl::string_view type, absl::string_view root,
                    absl::string_view table, absl::string_view updates,
                    absl::string_view numbers) {
  return absl::Substitute(R"(HloModule m
f {
  x = $0[] parameter(0)
  y = $0[] parameter(1)
  ROOT r = $0[] $1
}
ENTRY e {
  table = $0[$2] parameter(0)
  index = s32[$5] parameter(1)
  updates = $0[$3] parameter(2)
  ROOT g = $0[$2] scatter(table, index, updates), $4, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f
})",
                          type, root, table, updates, numbers,
                          updates.substr(0, updates.find(',')));
}

TEST(ScatterTest, WordsAreCombinedByAnyOneOperation) {
  for (const auto& [type, root] :
       std::vector<std::pair<const char*, const char*>>{
           {"f32", "add(x, y)"},
           {"f32", "maximum(x, y)"},
           {"s32", "minimum(x, y)"},
           {"u32", "maximum(x, y)"},
           {"s32", "add(x, y)"},
           {"u32", "xor(x, y)"}}) {
    for (const auto& [table, updates, numbers] :
         std::vector<std::tuple<const char*, const char*, const char*>>{
             {"20,130", "150,130",
              "update_window_dims={1}, inserted_window_dims={0}"},
             {"20000,128", "150,128",
              "update_window_dims={1}, inserted_window_dims={0}"},
             {"500", "150",
              "update_window_dims={}, inserted_window_dims={0}"}}) {
      HarnessOptions options;
      options.chip = "v5e";
      options.low = type[0] == 'u' ? 0 : -3;
      options.high = 40;
      options.relative = 1e-5;
      const std::string hlo = Scatter(type, root, table, updates, numbers);
      EXPECT_OK(CompareKernel(hlo, options).status()) << hlo;
    }
  }
}

// In VMEM, and one at a time; few enough that no index repeats.
TEST(ScatterTest, SingleElementsAreReplaced) {
  for (const char* chip : {"v3", "v5e", "v6e"}) {
    for (const char* table : {"3000", "9000000"}) {
      if (table[0] == '9' && chip[1] != '5') continue;
      HarnessOptions options;
      options.chip = chip;
      options.low = -3;
      options.high = 4000;
      const std::string hlo =
          Scatter("f32", "add(x, y)", table, "150",
                  "update_window_dims={}, inserted_window_dims={0}");
      EXPECT_OK(CompareKernel(hlo, options).status()) << hlo;
      std::string put = absl::Substitute(R"(HloModule m
f {
  x = f32[] parameter(0)
  ROOT y = f32[] parameter(1)
}
ENTRY e {
  table = f32[$0] parameter(0)
  index = s32[2] parameter(1)
  updates = f32[2] parameter(2)
  ROOT g = f32[$0] scatter(table, index, updates), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f
})",
                                         table);
      EXPECT_OK(CompareKernel(put, options).status()) << put;
    }
  }
}

// A table that lies in VMEM is changed there: nothing is copied.
TEST(ScatterTest, SingleElementsOfATableInVmemAreChangedInPlace) {
  for (const char* chip : {"v3", "v5e", "tpu7x"}) {
    HarnessOptions options;
    options.chip = chip;
    options.low = -3;
    options.high = 4000;
    options.in_vmem = {0, 3};
    auto result = CompareKernel(
        Scatter("f32", "add(x, y)", "3000", "150",
                "update_window_dims={}, inserted_window_dims={0}"),
        options);
    ASSERT_OK(result.status()) << chip;
    EXPECT_TRUE(result->kernel.descriptors.empty());
  }
}

// Of a table that does not fit VMEM, whose rows many updates share.
TEST(ScatterTest, ElementsOfRowsInFlightAddUpWhereIndicesRepeat) {
  HarnessOptions options;
  options.chip = "v3";
  options.low = -3;
  options.high = 700;
  options.relative = 1e-5;
  auto result =
      CompareKernel(Scatter("f32", "add(x, y)", "3000000", "1500",
                            "update_window_dims={}, inserted_window_dims={0}"),
                    options);
  ASSERT_OK(result.status());
  EXPECT_THAT(result->kernel.note, ::testing::HasSubstr("rows in flight"));
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

// Rows of a table of more rows than SMEM has words: equal ones, and others that
// share a bucket.
TEST(ScatterTest, WithoutRoomForAllOwnersRowsInFlightFindTheirEqual) {
  for (const char* chip : {"v2", "v3"}) {
    for (const double high : {40.0, 3000.0, 50000.0}) {
      HarnessOptions options;
      options.chip = chip;
      options.low = -3;
      options.high = high;
      options.relative = 1e-5;
      auto result = CompareKernel(AddRows(128, "s32[150]", 40000), options);
      ASSERT_OK(result.status()) << chip << " " << high;
      EXPECT_EQ(result->kernel.note, "152 rows in flight");
    }
  }
}

TEST(ScatterTest, ASmallTableIsCopiedOnce) {
  auto kernel = KernelOf(AddRows(128, "s32[150]", 2));
  ASSERT_OK(kernel.status());
  EXPECT_EQ(kernel->note, "table in VMEM, 128 rows per step");
}

}  // namespace
}  // namespace ptxla::lowering
