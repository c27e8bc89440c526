// Gathers whose numbers are known to be inside of the table: do they fetch what
// HLO names, and in as many bundles as the TPU compiler's?
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "isa/from_chip_spec.h"
#include "isa/timing.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// `count` rows of [rows,width].
std::string Rows(const char* type, int64_t rows, int64_t width, int64_t count) {
  return absl::Substitute(R"(HloModule m
ENTRY e {
  table = $0[$1,$2] parameter(0)
  index = s32[$3] parameter(1)
  ROOT g = $0[$3,$2] gather(table, index), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,$2}, backend_config="bounded"
})",
                          type, rows, width, count);
}

std::string Columns(int64_t rows, int64_t columns, int64_t count) {
  return absl::Substitute(R"(HloModule m
ENTRY e {
  table = f32[$0,$1] parameter(0)
  index = s32[$2] parameter(1)
  ROOT g = f32[$0,$2] gather(table, index), offset_dims={0}, collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1, slice_sizes={$0,1}, backend_config="bounded"
})",
                          rows, columns, count);
}

std::string Elements(const char* type, int64_t rows, int64_t columns,
                     int64_t count) {
  return absl::Substitute(R"(HloModule m
ENTRY e {
  table = $0[$1,$2] parameter(0)
  index = s32[2,$3] parameter(1)
  ROOT g = $0[$3] gather(table, index), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=0, slice_sizes={1,1}, backend_config="bounded"
})",
                          type, rows, columns, count);
}

// Counts that fill steps, and one that ends inside of the last.
TEST(BoundedGatherTest, WhatIsNamedIsFetched) {
  std::vector<std::string> programs;
  for (const int64_t count : {1024, 1000}) {
    for (const int64_t width : {128, 200, 1000, 2100}) {
      programs.push_back(Rows("f32", 64, width, count));
    }
    programs.push_back(Rows("bf16", 64, 300, count));
    programs.push_back(Rows("s8", 64, 300, count));
    for (const int64_t rows : {3, 16, 20}) {
      programs.push_back(Columns(rows, 700, count));
    }
    programs.push_back(Elements("f32", 64, 300, count));
    programs.push_back(Elements("bf16", 64, 300, count));
  }
  for (const std::string& hlo : programs) {
    for (const char* chip : {"v3", "v4", "v5e", "v6e"}) {
      for (const std::vector<int>& in_vmem : {std::vector<int>{}, {0}}) {
        HarnessOptions options;
        options.chip = chip;
        options.in_vmem = in_vmem;
        options.low = 0;
        options.high = 63;
        EXPECT_OK(CompareKernel(hlo, options).status())
            << chip << " " << absl::StrJoin(in_vmem, ",") << "\n"
            << hlo;
      }
    }
  }
}

// Static bundles of libtpu 0.0.42.1 for 128 rows, tables in VMEM: the code of
// its gathers has 128 of them in a row.
TEST(BoundedGatherTest, BundlesAreAsManyAsTheTpuCompilers) {
  constexpr int64_t kCount = 16384;
  struct Case {
    std::string hlo;
    double v5e, v6e;
  };
  const Case cases[] = {
      {Rows("f32", 4096, 128, kCount), 256, 261},
      {Rows("f32", 4096, 256, kCount), 513, 519},
      {Rows("f32", 4096, 512, kCount), 513, 519},
      {Rows("f32", 4096, 1024, kCount), 577, 589},
      {Elements("f32", 4096, 4096, kCount), 927, 923},
      {Columns(16, 1000000, kCount), 770, 672},
  };
  for (const Case& c : cases) {
    for (const char* chip : {"v5e", "v6e"}) {
      HarnessOptions options;
      options.chip = chip;
      options.in_vmem = {0};
      ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel, KernelOf(c.hlo, options));
      const isa::MachineModel machine =
          isa::FromChipSpec(*chips::ChipSpec::Load(chip));
      const double ours = static_cast<double>(
          isa::TimeKernel(kernel, machine).UnstalledCycles(kernel));
      const double theirs =
          (options.chip == "v5e" ? c.v5e : c.v6e) * (kCount / 128.);
      EXPECT_LT(std::abs(ours / theirs - 1), .25)
          << ours / (kCount / 128.) << " on " << chip << "\n"
          << c.hlo;
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
