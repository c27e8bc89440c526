// Dynamic slices of whole planes, out of HBM.
#include "hlo_backend/lowering/movement/plane_slice.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// Of [6,5,$plane]: so many planes of each dimension, from starts that are data.
std::string Slice(const char* type, int outer, int inner, const char* plane) {
  return absl::Substitute(R"(HloModule m
ENTRY e {
  a = $0[6,5,$3] parameter(0)
  s = s32[] parameter(1)
  t = s32[] parameter(2)
  z = s32[] constant(0)
  ROOT r = $0[$1,$2,$3] dynamic-slice(a, s, t, z, z),
    dynamic_slice_sizes={$1,$2,$3}
})",
                          type, outer, inner, plane);
}

TEST(PlaneSliceTest, PlanesComeFromWhereDataSayButFromInside) {
  HarnessOptions options;
  options.emit = EmitPlaneSlice;
  options.low = -3;
  for (const char* chip : {"v3", "v4", "v5e", "tpu7x"}) {
    options.chip = chip;
    for (const char* type : {"f32", "bf16"}) {
      for (const char* plane : {"1,7", "7,127", "33,129"}) {
        for (const auto& [outer, inner] :
             std::vector<std::pair<int, int>>{{1, 5}, {1, 1}, {6, 2}, {2, 3}}) {
          for (const double high : {2, 40}) {
            options.high = high;
            for (const std::vector<int>& vmem :
                 {std::vector<int>{}, std::vector<int>{5}}) {
              options.in_vmem = vmem;
              EXPECT_OK(CompareKernel(Slice(type, outer, inner, plane), options)
                            .status())
                  << chip << " " << type << " " << outer << "x" << inner << " "
                  << plane << " " << high;
            }
          }
        }
      }
    }
  }
}

TEST(PlaneSliceTest, ALayerOfAStackIsOneTransferAndNoGrid) {
  for (const char* chip : {"v3", "v6e"}) {
    HarnessOptions options;
    options.chip = chip;
    ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel,
                         KernelOf(Slice("bf16", 1, 5, "2048,1024"), options));
    ASSERT_EQ(kernel.descriptors.size(), 1);
    EXPECT_EQ(kernel.descriptors[0].inner_bytes, 5 * 2048 * 1024 * 2);
    EXPECT_TRUE(kernel.descriptors[0].dims.empty());
    EXPECT_TRUE(kernel.grid.empty());
  }
}

TEST(PlaneSliceTest, AStackOfManyGigabytesIsOneTransferToo) {
  ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel,
                       KernelOf(Slice("bf16", 1, 1, "16384,8192"), {}));
  EXPECT_EQ(kernel.descriptors.size(), 1);
  EXPECT_TRUE(kernel.grid.empty());
}

TEST(PlaneSliceTest, PlanesInVmemGoThroughRegisters) {
  HarnessOptions options;
  options.in_vmem = {0};
  ASSERT_OK_AND_ASSIGN(isa::Kernel kernel,
                       KernelOf(Slice("f32", 1, 5, "256,256"), options));
  EXPECT_FALSE(kernel.grid.empty());
}

// Of one column of tiles and whole registers.
TEST(PlaneSliceTest, NarrowPlanesInVmemAreReadWhereTheyLie) {
  HarnessOptions options;
  options.low = -3;
  for (const char* chip : {"v4", "v5e", "v6e", "tpu7x"}) {
    options.chip = chip;
    for (const auto& [type, plane] :
         std::vector<std::pair<const char*, const char*>>{{"f32", "8,128"},
                                                          {"f32", "7,127"},
                                                          {"bf16", "16,64"},
                                                          {"bf16", "47,1"}}) {
      for (const auto& [outer, inner] :
           std::vector<std::pair<int, int>>{{1, 5}, {1, 1}, {6, 2}, {2, 3}}) {
        const std::string slice = Slice(type, outer, inner, plane);
        for (const double high : {2, 40}) {
          options.high = high;
          for (const std::vector<int>& vmem :
               {std::vector<int>{0, 5}, std::vector<int>{0}}) {
            options.in_vmem = vmem;
            EXPECT_OK(CompareKernel(slice, options).status())
                << chip << " " << slice << " " << high;
          }
        }
        ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel,
                             KernelOf(slice, options));
        EXPECT_TRUE(kernel.descriptors.empty()) << chip << " " << slice;
      }
    }
  }
}

// The start is known; planes of an odd number of packed tiles are no whole
// registers.
TEST(PlaneSliceTest, PlanesOfAnySizeInVmemAreOneTransfer) {
  HarnessOptions options;
  for (const char* chip : {"v2", "v4", "v5e", "v6e", "tpu7x"}) {
    options.chip = chip;
    for (const char* slice :
         {"[0:4],[0:7],[0:113],[0:64]", "[1:3],[2:8],[0:113],[0:64]"}) {
      for (const char* type : {"bf16", "f32"}) {
        for (const std::vector<int>& vmem :
             {std::vector<int>{0, 1}, std::vector<int>{0},
              std::vector<int>{1}}) {
          options.in_vmem = vmem;
          options.emit = EmitKernel;
          const std::string text = absl::Substitute(
              R"(HloModule m
ENTRY e {
  a = $0[4,8,113,64] parameter(0)
  ROOT r = $0[$1,113,64] slice(a), slice={$2}
})",
              type, slice[1] == '0' ? "4,7" : "2,6", slice);
          EXPECT_OK(CompareKernel(text, options).status()) << chip << text;
          options.emit = EmitPlaneSlice;
          const auto planes = CompareKernel(text, options);
          ASSERT_OK(planes.status()) << chip << text;
          EXPECT_TRUE(planes->kernel.grid.empty());
        }
      }
    }
  }
  // What the compiler takes.
  options.chip = "v5e";
  options.in_vmem = {0, 1};
  options.emit = EmitKernel;
  ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel, KernelOf(R"(HloModule m
ENTRY e {
  a = bf16[4,114,113,64] parameter(0)
  ROOT r = bf16[4,113,113,64] slice(a), slice={[0:4],[0:113],[0:113],[0:64]}
})",
                                                          options));
  EXPECT_TRUE(kernel.grid.empty());
}

}  // namespace
}  // namespace ptxla::lowering
