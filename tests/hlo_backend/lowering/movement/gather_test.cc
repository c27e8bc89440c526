// Do lookups fetch the rows that HLO names?
#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

std::string Lookup(int rows, int width, absl::string_view indices,
                   int results = 300) {
  return absl::Substitute(R"(HloModule m
ENTRY e {
  table = f32[$0,$1] parameter(0)
  index = $2 parameter(1)
  ROOT g = f32[$3,$1] gather(table, index), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,$1}
})",
                          rows, width, indices, results);
}

TEST(GatherTest, RowsComeByIndex) {
  for (const char* chip : {"v4", "v5e", "v6e"}) {
    for (int width : {128, 1000, 64}) {
      for (const char* indices : {"u32[300]", "s32[300]", "s32[300,1]"}) {
        HarnessOptions options;
        options.chip = chip;
        options.low = -3;  // clamped, as those beyond the end are
        options.high = 60;
        EXPECT_OK(CompareKernel(Lookup(50, width, indices), options).status())
            << chip << " " << width << " " << indices;
        EXPECT_OK(CompareKernel(Lookup(2, width, indices), options).status())
            << chip << " " << width << " " << indices;
      }
    }
  }
}

// 256 of them in two slots would take 41 MB.
TEST(GatherTest, LongRowsAreFewInAStep) {
  HarnessOptions options;
  options.chip = "v5e";
  options.low = 0;
  options.high = 3;
  EXPECT_OK(CompareKernel(Lookup(4, 20000, "s32[300]"), options).status());
}

TEST(GatherTest, ColumnsComeByIndex) {
  for (const char* chip : {"v3", "v4", "v5e", "v6e"}) {
    for (const char* type : {"f32", "bf16", "s32"}) {
      for (const int rows : {5, 32, 50}) {
        for (const int results : {128, 300, 1500}) {
          HarnessOptions options;
          options.chip = chip;
          options.low = -3;  // clamped, as those beyond the end are
          options.high = 800;
          const std::string text = absl::Substitute(R"(HloModule m
ENTRY e {
  table = $0[$1,700] parameter(0)
  index = s32[$2] parameter(1)
  ROOT g = $0[$1,$2] gather(table, index), offset_dims={0}, collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1, slice_sizes={$1,1}
})",
                                                    type, rows, results);
          EXPECT_OK(CompareKernel(text, options).status())
              << chip << " " << type << " " << rows << " " << results;
          options.in_vmem = {0};
          EXPECT_OK(CompareKernel(text, options).status())
              << chip << " " << type << " " << rows << " table in VMEM";
          options.in_vmem = {2};
          EXPECT_OK(CompareKernel(text, options).status())
              << chip << " " << type << " " << rows << " result in VMEM";
        }
      }
    }
  }
}

TEST(GatherTest, RowNumbersAreCopiedFromVmemToSmem) {
  for (const char* chip : {"v4", "v5e", "v6e"}) {
    for (const char* indices : {"u32[300]", "s32[300,1]"}) {
      HarnessOptions options;
      options.chip = chip;
      options.low = -3;
      options.high = 60;
      options.in_vmem = {1};
      EXPECT_OK(CompareKernel(Lookup(50, 128, indices), options).status())
          << chip << " " << indices;
    }
  }
}

// A transfer for each row would take longer than one for the table.
TEST(GatherTest, ManyRowsOfASmallTableComeFromVmem) {
  for (const char* chip : {"v2", "v4", "v5e", "v6e", "tpu7x"}) {
    for (const int width : {64, 128, 1000, 1024}) {
      for (const std::vector<int>& in_vmem :
           std::vector<std::vector<int>>{{}, {0}, {2}, {0, 2}, {1}}) {
        HarnessOptions options;
        options.chip = chip;
        options.low = -3;
        options.high = 60;
        options.in_vmem = in_vmem;
        auto result = CompareKernel(
            Lookup(50, width, "s32[1000]", /*results=*/1000), options);
        ASSERT_OK(result.status()) << chip << " " << width;
        EXPECT_THAT(result->kernel.note,
                    ::testing::StartsWith("table in VMEM, "));
      }
    }
  }
}

// 8 rows of 264 are left for the last step of 256: it has others again, as
// nothing behind the result may be written.
TEST(GatherTest, TheLastStepOfAResultInVmemHasItsLastRows) {
  for (const char* indices : {"s32[264]", "s32[264,1]"}) {
    for (const int table : {30, 30000}) {  // through registers, by DMA
      HarnessOptions options;
      options.low = 0;
      options.high = 60;
      options.in_vmem = {2};
      auto result =
          CompareKernel(Lookup(table, 128, indices, /*results=*/264), options);
      ASSERT_OK(result.status());
      const isa::WindowDim& down = result->kernel.windows[1].dims[0];
      EXPECT_THAT(down.table, ::testing::ElementsAre(0, 1));  // tiles
    }
  }
}

// Planes that lie in one piece: padded rows and lanes come with them.
TEST(GatherTest, PlanesComeByIndex) {
  for (const char* chip : {"v2", "v4", "v5e", "v6e", "tpu7x"}) {
    for (const char* type : {"f32", "bf16", "u8"}) {
      for (const char* plane : {"16,128", "13,70", "2,3,8,130"}) {
        for (const int count : {1, 7, 20, 48}) {
          HarnessOptions options;
          options.chip = chip;
          options.low = -3;  // clamped, as those beyond the end are
          options.high = 9;
          const bool four = std::string(plane).size() > 6;
          const std::string hlo = absl::Substitute(
              R"(HloModule m
ENTRY e {
  table = $0[5,$1] parameter(0)
  index = s32[$2] parameter(1)
  ROOT g = $0[$2,$1] gather(table, index), offset_dims={$3}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,$1}
})",
              type, plane, count, four ? "1,2,3,4" : "1,2");
          EXPECT_OK(CompareKernel(hlo, options).status()) << chip << hlo;
          options.in_vmem = {0, 2};
          for (const std::vector<int>& in_vmem :
               std::vector<std::vector<int>>{{}, {0}, {1}, {0, 1}}) {
            options.in_vmem = in_vmem;
            EXPECT_OK(CompareKernel(hlo, options).status())
                << chip << hlo << in_vmem.size();
          }
        }
      }
    }
  }
}

TEST(GatherTest, RowsThatShareWordsComeByIndex) {
  for (const char* chip : {"v3", "v5e", "v6e"}) {
    for (const char* type : {"bf16", "u8"}) {
      for (int width : {128, 1300, 64}) {
        for (int count : {7, 300}) {
          HarnessOptions options;
          options.chip = chip;
          options.low = 0;
          options.high = 60;
          const std::string hlo = absl::Substitute(
              R"(HloModule m
ENTRY e {
  table = $0[53,$1] parameter(0)
  index = s32[$2] parameter(1)
  ROOT g = $0[$2,$1] gather(table, index), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,$1}
})",
              type, width, count);
          EXPECT_OK(CompareKernel(hlo, options).status()) << chip << hlo;
          options.in_vmem = {0};
          EXPECT_OK(CompareKernel(hlo, options).status()) << chip << hlo;
        }
      }
    }
  }
}

// Of long rows, of short ones, and of some that fill no register.
TEST(GatherTest, RowsThatShareWordsNeedNoTransfersFromVmem) {
  for (const char* chip : {"v3", "v4", "v5e", "v6e", "tpu7x"}) {
    for (const int width : {1, 129, 1000, 1024, 1300}) {
      HarnessOptions options;
      options.chip = chip;
      options.low = -3;
      options.high = 60;
      options.in_vmem = {0};
      const std::string hlo = absl::Substitute(
          R"(HloModule m
ENTRY e {
  table = bf16[53,$0] parameter(0)
  index = s32[127] parameter(1)
  ROOT g = bf16[127,$0] gather(table, index), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,$0}
})",
          width);
      auto result = CompareKernel(hlo, options);
      ASSERT_OK(result.status()) << chip << " " << width;
      EXPECT_TRUE(result->kernel.descriptors.empty());
    }
  }
}

// Tables that fit into VMEM, and one that does not.
TEST(GatherTest, SingleElementsComeByIndex) {
  for (const char* chip : {"v3", "v5e", "v6e"}) {
    for (int size : {50, 5000, 9000000}) {
      for (int count : {3, 1300}) {
        if (size > 5000 && (count > 3 || chip[1] != '5')) continue;
        HarnessOptions options;
        options.chip = chip;
        options.low = -3;
        options.high = 6000;
        const std::string hlo = absl::Substitute(
            R"(HloModule m
ENTRY e {
  table = f32[$0] parameter(0)
  index = s32[$1] parameter(1)
  ROOT g = f32[$1] gather(table, index), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}
})",
            size, count);
        EXPECT_OK(CompareKernel(hlo, options).status()) << chip << hlo;
      }
    }
  }
}

// Tiles with rows and lanes of padding, whole ones, planes; from VMEM, and by
// DMA.
TEST(GatherTest, SingleElementsComeFromWhereTheyLieInTiles) {
  struct Case {
    std::string dims, layout;
    int rank;
  };
  const Case cases[] = {{"50,8", "1,0", 2},
                        {"13,300", "1,0", 2},
                        {"13,300", "0,1", 2},
                        {"3,21,130", "2,1,0", 3},
                        {"3000,3001", "1,0", 2}};
  for (const char* chip : {"v3", "v5e", "tpu7x"}) {
    for (const char* type : {"f32", "bf16", "u8"}) {
      for (const Case& c : cases) {
        for (const int count : {3, 1300}) {
          if (c.dims[1] == '0' && c.dims[2] == '0' &&
              (count > 3 || chip[1] != '5')) {
            continue;
          }
          HarnessOptions options;
          options.chip = chip;
          options.low = -3;  // clamped, as those beyond the end are
          options.high = 40;
          const bool planes = c.rank == 3;
          const std::string hlo = absl::Substitute(
              R"(HloModule m
ENTRY e {
  table = $0[$1] parameter(0)
  index = s32[$2,$3] parameter(1)
  ROOT g = $0[$3] gather(table, index), offset_dims={}, collapsed_slice_dims={$4}, start_index_map={$4}, index_vector_dim=0, slice_sizes={$5}
})",
              type, c.dims, c.rank, count, planes ? "0,1,2" : "0,1",
              planes ? "1,1,1" : "1,1");
          EXPECT_OK(CompareKernel(hlo, options).status()) << chip << hlo;
        }
      }
    }
  }
}

TEST(GatherTest, OtherGathersAreRefusedByName) {
  const auto kernel = KernelOf(R"(HloModule m
ENTRY e {
  table = f32[50,8] parameter(0)
  index = s32[30,2] parameter(1)
  ROOT point = f32[30] gather(table, index), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1}
})");
  EXPECT_THAT(kernel.status(),
              ::ptxla::testing::StatusIs(absl::StatusCode::kUnimplemented,
                                         ::testing::HasSubstr("%point")));
}

}  // namespace
}  // namespace ptxla::lowering
