// Rows of a result that are planes of the operand: bundles against the
// evaluator.
#include "hlo_backend/lowering/movement/row_transpose.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

std::string Transpose(absl::string_view type, absl::string_view dims,
                      absl::string_view result, absl::string_view permutation) {
  return absl::Substitute(R"(HloModule m
ENTRY e {
  a = $0[$1] parameter(0)
  ROOT r = $0[$2] transpose(a), dimensions={$3}
})",
                          type, dims, result, permutation);
}

std::string Reshape(absl::string_view type, absl::string_view dims,
                    absl::string_view result) {
  return absl::Substitute(R"(HloModule m
ENTRY e {
  a = $0[$1] parameter(0)
  ROOT r = $0[$2] reshape(a)
})",
                          type, dims, result);
}

class RowTransposeTest : public ::testing::TestWithParam<const char*> {};

TEST_P(RowTransposeTest, PlanesBecomeRows) {
  for (const char* type : {"f32", "bf16", "s32"}) {
    HarnessOptions options;
    options.chip = GetParam();
    for (const auto& text :
         {Transpose(type, "24,14,14,64", "14,14,24,64", "1,2,0,3"),
          Transpose(type, "14,14,24,64", "24,14,14,64", "2,0,1,3"),
          Transpose(type, "5,7,9,130", "7,9,5,130", "1,2,0,3"),
          Transpose(type, "3,4,5,17,8", "4,5,17,3,8", "1,2,3,0,4"),
          Transpose(type, "40,1,30,300", "1,30,40,300", "1,2,0,3"),
          Transpose(type, "33,40,256", "40,33,256", "1,0,2")}) {
      EXPECT_OK(CompareKernel(text, options).status()) << GetParam() << text;
    }
  }
}

// The amplitudes of qubits: any number of dimensions, most of which move along
// with their neighbours.
TEST_P(RowTransposeTest, PlanesThatStayTogetherAreOneDimension) {
  for (const char* type : {"f32", "bf16"}) {
    HarnessOptions options;
    options.chip = GetParam();
    EXPECT_OK(
        CompareKernel(Transpose(type, "2,2,2,2,2,2,2,2,2,2",
                                "2,2,2,2,2,2,2,2,2,2", "8,1,2,3,4,5,6,7,0,9"),
                      options)
            .status());
    EXPECT_OK(
        CompareKernel(Transpose(type, "2,3,1,2,5,1,3,2,17,4",
                                "17,3,1,2,5,1,3,2,2,4", "8,1,2,3,4,5,6,7,0,9"),
                      options)
            .status());
  }
}

// In both directions: whole registers, few rows, rows and planes that do not
// fill registers, several dimensions joined.
TEST_P(RowTransposeTest, RowsBesideOneAnother) {
  HarnessOptions options;
  options.chip = GetParam();
  options.emit = EmitRowTranspose;
  for (const char* type : {"f32", "bf16"}) {
    for (const auto& [apart, joined] :
         {std::make_pair("16,24,256", "16,6144"),
          std::make_pair("3,5,13,256", "3,16640"),
          std::make_pair("3,1,2,15,384", "3,1,11520"),
          std::make_pair("2,9,27,256", "2,9,6912")}) {
      for (const auto& text :
           {Reshape(type, apart, joined), Reshape(type, joined, apart)}) {
        EXPECT_OK(CompareKernel(text, options).status()) << GetParam() << text;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, RowTransposeTest,
                         ::testing::Values("v2", "v3", "v4", "v5e", "v5p",
                                           "v6e", "tpu7x"));

// Rows that do not fill registers cannot be walked where they are.
TEST(RowTransposeTest, RaggedArraysInVmemAreCopiedBlockByBlock) {
  for (const char* type : {"f32", "bf16"}) {
    for (const std::vector<int>& in_vmem :
         std::vector<std::vector<int>>{{0}, {1}, {0, 1}}) {
      HarnessOptions options;
      options.chip = "v5e";
      options.in_vmem = in_vmem;
      for (const auto& text :
           {Transpose(type, "3,64,128,3", "128,64,3,3", "2,1,0,3"),
            Transpose(type, "5,7,9,130", "7,9,5,130", "1,2,0,3"),
            Transpose(type, "3,4,5,17,8", "4,5,17,3,8", "1,2,3,0,4"),
            Transpose(type, "33,40,256", "40,33,256", "1,0,2")}) {
        EXPECT_OK(CompareKernel(text, options).status())
            << in_vmem.size() << text;
      }
    }
  }
}

// Steps of several planes, whatever divides them: the last one has what is
// left.
TEST(RowTransposeTest, CopiedBlocksNeedNotDivideThePlanes) {
  HarnessOptions options;
  options.chip = "v5e";
  for (const std::vector<int>& in_vmem :
       std::vector<std::vector<int>>{{0}, {1}, {0, 1}, {}}) {
    options.in_vmem = in_vmem;
    const auto result = CompareKernel(
        Transpose("bf16", "8,59,113,64", "59,113,8,64", "1,2,0,3"), options);
    ASSERT_OK(result.status());
    ASSERT_FALSE(result->kernel.grid.empty());
    EXPECT_LE(result->kernel.grid[0], 15);
  }
}

// Several steps, the last of which has a part of a register's rows.
TEST(RowTransposeTest, RaggedRowsBesideOneAnotherInVmem) {
  HarnessOptions options;
  options.chip = "v5e";
  options.emit = EmitRowTranspose;
  for (const char* type : {"f32", "bf16"}) {
    for (const std::vector<int>& in_vmem : {std::vector<int>{0}, {1}, {0, 1}}) {
      options.in_vmem = in_vmem;
      for (const auto& text : {Reshape(type, "8,521,256", "8,133376"),
                               Reshape(type, "8,133376", "8,521,256")}) {
        EXPECT_OK(CompareKernel(text, options).status()) << text;
      }
    }
  }
}

// A block of all the lanes of a row of tiles fills VMEM.
TEST(RowTransposeTest, RowsOfAnyLengthBesideOneAnother) {
  HarnessOptions options;
  options.chip = "v3";
  const auto result =
      CompareKernel(Reshape("f32", "8,1031,512", "8,527872"), options);
  ASSERT_OK(result.status());
  EXPECT_TRUE(absl::StrContains(result->kernel.note, "from planes"));
}

TEST(RowTransposeTest, MoreDimensionsThanAWindowHas) {
  for (const char* type : {"f32", "bf16"}) {
    HarnessOptions options;
    options.chip = "v4";
    for (const auto& text :
         {Transpose(type, "2,3,4,5,6,40", "2,4,6,3,5,40", "0,2,4,1,3,5"),
          Transpose(type, "3,2,4,5,17,130", "17,3,4,2,5,130", "4,0,2,1,3,5"),
          Transpose(type, "2,3,2,3,2,9,40", "9,2,2,3,2,3,40",
                    "5,2,0,3,4,1,6")}) {
      EXPECT_OK(CompareKernel(text, options).status()) << text;
    }
  }
}

// Too large for a block of whole planes on both sides.
TEST(RowTransposeTest, AnySizeFitsInBoxes) {
  for (const char* type : {"f32", "bf16"}) {
    for (const char* dims : {"32,56,56", "30,41,45"}) {
      const std::vector<std::string> d = absl::StrSplit(dims, ',');
      HarnessOptions options;
      options.chip = "v4";
      const auto result = CompareKernel(
          Transpose(type, absl::StrCat(dims, ",64"),
                    absl::StrCat(d[1], ",", d[2], ",", d[0], ",64"), "1,2,0,3"),
          options);
      EXPECT_OK(result.status()) << type << dims;
      EXPECT_TRUE(!result.ok() ||
                  absl::StrContains(result->kernel.note, "from planes"));
    }
  }
}

TEST(RowTransposeTest, ArraysInVmemAreWalkedInPlace) {
  for (const char* type : {"f32", "bf16"}) {
    for (const std::vector<int>& in_vmem : {std::vector<int>{0}, {1}, {0, 1}}) {
      HarnessOptions options;
      options.chip = "v5e";
      options.in_vmem = in_vmem;
      for (const auto& text :
           {Transpose(type, "32,24,24,64", "24,24,32,64", "1,2,0,3"),
            Transpose(type, "12,20,20,64", "20,20,12,64", "1,2,0,3")}) {
        EXPECT_OK(CompareKernel(text, options).status()) << text;
      }
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
