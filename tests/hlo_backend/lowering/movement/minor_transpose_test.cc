#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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

TEST(MinorTransposeTest, RowsAndColumnsChangePlaces) {
  for (const char* chip : {"v6e", "v5e", "v4"}) {
    for (const char* type : {"f32", "s32", "bf16"}) {
      HarnessOptions options;
      options.chip = chip;
      for (const auto& text :
           {Transpose(type, "128,128", "128,128", "1,0"),
            Transpose(type, "7,129", "129,7", "1,0"),
            Transpose(type, "300,1000", "1000,300", "1,0"),
            Transpose(type, "3,37,300", "3,300,37", "0,2,1"),
            Transpose(type, "3,5,37,130", "5,3,130,37", "1,0,3,2"),
            // More major dimensions than a window has.
            Transpose(type, "3,4,2,2,3,64", "3,4,2,2,64,3", "0,1,2,3,5,4"),
            Transpose(type, "3,4,2,5,9,64", "2,5,3,4,64,9", "2,3,0,1,5,4")}) {
        EXPECT_OK(CompareKernel(text, options).status()) << chip << text;
      }
    }
  }
}

// 24 blocks of 128 x 128, or fewer that fit better (libtpu 0.0.42.1).
TEST(MinorTransposeTest, AMatrixHasTheTpuCompilersSteps) {
  const auto steps = [](absl::string_view dims, absl::string_view result) {
    auto kernel = KernelOf(Transpose("f32", dims, result, "1,0"));
    EXPECT_OK(kernel.status());
    return kernel.ok() ? kernel->NumSteps() : -1;
  };
  EXPECT_EQ(steps("4096,3072", "3072,4096"), 32);
  EXPECT_EQ(steps("32000,128", "128,32000"), 11);
  EXPECT_EQ(steps("512,8192", "8192,512"), 11);
  EXPECT_EQ(steps("1024,1024", "1024,1024"), 3);
  EXPECT_EQ(steps("5120,1280", "1280,5120"), 20);
}

TEST(MinorTransposeTest, ManyRowsOfFewColumns) {
  for (const char* chip : {"v6e", "v5e", "v4"}) {
    for (const char* type : {"f32", "bf16"}) {
      for (const std::vector<int>& in_vmem :
           {std::vector<int>{}, std::vector<int>{0}}) {
        HarnessOptions options;
        options.chip = chip;
        options.in_vmem = in_vmem;
        for (const auto& text :
             {Transpose(type, "2000,128", "128,2000", "1,0"),
              Transpose(type, "1999,70", "70,1999", "1,0"),
              Transpose(type, "1025,256", "256,1025", "1,0")}) {
          EXPECT_OK(CompareKernel(text, options).status()) << chip << text;
        }
      }
    }
  }
}

// Arrays in VMEM that are larger than a kernel's room are walked in steps.
TEST(MinorTransposeTest, LargeArraysInVmemAreWalkedInSteps) {
  for (const char* chip : {"v6e", "v3"}) {
    ASSERT_OK_AND_ASSIGN(const auto whole, chips::ChipSpec::Load(chip));
    ASSERT_OK_AND_ASSIGN(const auto spec,
                         whole.WithValue("vmem.scoped_limit", double{1 << 20}));
    for (const char* type : {"f32", "bf16"}) {
      for (const std::vector<int>& in_vmem :
           std::vector<std::vector<int>>{{0}, {1}, {0, 1}}) {
        HarnessOptions options;
        options.spec = &spec;
        options.in_vmem = in_vmem;
        for (const auto& text :
             {Transpose(type, "2500,129", "129,2500", "1,0"),
              Transpose(type, "5057,128", "128,5057", "1,0"),
              Transpose(type, "90,5009", "5009,90", "1,0"),
              Transpose(type, "1290,1100", "1100,1290", "1,0"),
              Transpose(type, "3,700,600", "3,600,700", "0,2,1")}) {
          EXPECT_OK(CompareKernel(text, options).status())
              << chip << " " << in_vmem.size() << in_vmem[0] << text;
        }
      }
    }
  }
}

// Arrays of few rows lie in lower tiles.
TEST(MinorTransposeTest, FewRowsOrColumnsOnEitherSideAndInVmem) {
  for (const char* chip : {"v6e", "v3"}) {
    for (const char* type : {"f32", "bf16"}) {
      for (const std::vector<int>& in_vmem :
           std::vector<std::vector<int>>{{}, {0}, {1}, {0, 1}}) {
        HarnessOptions options;
        options.chip = chip;
        options.in_vmem = in_vmem;
        for (const auto& text :
             {Transpose(type, "256,3", "3,256", "1,0"),
              // Enough planes for several in a step, also of staged arrays.
              Transpose(type, "5,37,3,150", "5,37,150,3", "0,1,3,2"),
              Transpose(type, "3,64,64,112", "3,64,112,64", "0,1,3,2"),
              Transpose(type, "2,32,37,70", "2,32,70,37", "0,1,3,2"),
              Transpose(type, "32,130,100", "32,100,130", "0,2,1"),
              Transpose(type, "4,3,256", "4,256,3", "0,2,1"),
              Transpose(type, "2,9,2,3", "2,9,3,2", "0,1,3,2"),
              Transpose(type, "3,9,150", "3,150,9", "0,2,1"),
              Transpose(type, "1,700", "700,1", "1,0")}) {
          EXPECT_OK(CompareKernel(text, options).status())
              << chip << " " << in_vmem.size() << text;
        }
      }
    }
  }
}

// Steps of a few small planes would take the memory's latency each.
// One dimension of planes, or none, is left of several.
TEST(MinorTransposeTest, PlanesThatFollowOneAnotherAreOne) {
  for (const char* chip : {"v3", "v5e", "tpu7x"}) {
    HarnessOptions options;
    options.chip = chip;
    for (const auto& text :
         {Transpose("f32", "7,7,4,3,1,512", "512,7,7,4,3,1", "5,0,1,2,3,4"),
          Transpose("bf16", "2,100,1,4,188", "2,1,188,4,100", "0,2,4,3,1"),
          Transpose("f32", "5,1,3,40,130", "5,1,3,130,40", "0,1,2,4,3"),
          Transpose("s32", "256,5,1", "1,5,256", "2,1,0")}) {
      EXPECT_OK(CompareKernel(text, options).status()) << chip << text;
    }
  }
}

TEST(MinorTransposeTest, ManySmallPlanesShareAStep) {
  HarnessOptions options;
  options.chip = "v5e";
  ASSERT_OK_AND_ASSIGN(
      const HarnessResult r,
      CompareKernel(Transpose("bf16", "1030,3,8", "1030,8,3", "0,2,1"),
                    options));
  EXPECT_LE(r.kernel.grid.front(), 10);
}

// Two steps may have some planes in common, so that nothing lies beyond the
// last one.
TEST(MinorTransposeTest, PlanesInVmemNeedNoDivisors) {
  for (const char* chip : {"v2", "v3", "v5e", "v6e", "tpu7x"}) {
    for (const std::vector<int>& in_vmem :
         std::vector<std::vector<int>>{{0}, {1}, {0, 1}}) {
      HarnessOptions options;
      options.chip = chip;
      options.in_vmem = in_vmem;
      for (const auto& text :
           {Transpose("bf16", "151,113,64", "151,64,113", "0,2,1"),
            Transpose("f32", "307,40,64", "307,64,40", "0,2,1")}) {
        const auto result = CompareKernel(text, options);
        EXPECT_OK(result.status()) << chip << text;
        EXPECT_TRUE(!result.ok() || result->kernel.NumSteps() < 40) << chip;
      }
    }
  }
}

TEST(MinorTransposeTest, ResultsInVmemAreNotOverrun) {
  HarnessOptions options;
  options.in_vmem = {0, 1};
  EXPECT_OK(
      CompareKernel(Transpose("f32", "300,1000", "1000,300", "1,0"), options)
          .status());
  EXPECT_OK(CompareKernel(Transpose("f32", "10,20", "20,10", "1,0"), options)
                .status());
}

// Planes of an odd number of packed tiles end in half a register.
TEST(MinorTransposeTest, PlanesOfOddTilesAreWalkedWhereTheyLie) {
  for (const char* chip : {"v3", "v4", "v5e", "v6e", "tpu7x"}) {
    for (const auto& text :
         {Transpose("bf16", "12,16,8", "12,8,16", "0,2,1"),
          Transpose("bf16", "7,8,8", "7,8,8", "0,2,1"),
          Transpose("bf16", "9,8,24", "9,24,8", "0,2,1"),
          Transpose("bf16", "129,24,7", "129,7,24", "0,2,1"),
          Transpose("bf16", "3,1000,8,16", "3,1000,16,8", "0,1,3,2")}) {
      for (const std::vector<int>& in_vmem :
           std::vector<std::vector<int>>{{0}, {1}, {0, 1}}) {
        HarnessOptions options;
        options.chip = chip;
        options.in_vmem = in_vmem;
        const auto result = CompareKernel(text, options);
        EXPECT_OK(result.status()) << chip << text;
        if (!result.ok() || in_vmem.size() < 2) continue;
        EXPECT_EQ(result->kernel.vmem_bytes, 0) << chip << text;
      }
    }
  }
}

TEST(MinorTransposeTest, SmallPlanesShareAStep) {
  for (const char* chip : {"v3", "v5e", "v6e"}) {
    for (const char* type : {"f32", "bf16"}) {
      for (const char* dims : {"3,37,40,9", "9,130,3", "2,40,64,112"}) {
        const std::vector<std::string> size = absl::StrSplit(dims, ',');
        std::vector<std::string> to = size;
        std::swap(to[to.size() - 1], to[to.size() - 2]);
        const std::string text =
            absl::StrCat("HloModule m\nENTRY e {\n  a = ", type, "[", dims,
                         "] parameter(0)\n  ROOT r = ", type, "[",
                         absl::StrJoin(to, ","), "] transpose(a), dimensions=",
                         size.size() == 3 ? "{0,2,1}" : "{0,1,3,2}", "\n}\n");
        for (const std::vector<int>& in_vmem :
             std::vector<std::vector<int>>{{}, {0}, {1}}) {
          if (!in_vmem.empty() && size[1] != "40") continue;
          HarnessOptions options;
          options.chip = chip;
          options.in_vmem = in_vmem;
          const auto result = CompareKernel(text, options);
          EXPECT_OK(result.status()) << chip << text;
          if (!result.ok() || size.size() == 3) continue;
          EXPECT_LT(result->kernel.NumSteps(), 40)
              << chip << in_vmem.size() << text;
        }
      }
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
