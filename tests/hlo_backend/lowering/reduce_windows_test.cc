// Where results of a reduction lie while its kernel runs, and what the cores of
// a chip make of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// $3 of $0[$1] over dimension $2, $0[$4].
std::string Reduced(absl::string_view type, absl::string_view dims, int over,
                    absl::string_view operation, absl::string_view result) {
  return absl::Substitute(R"(HloModule m
g {
  x = $0[] parameter(0)
  y = $0[] parameter(1)
  ROOT z = $0[] $3(x, y)
}
ENTRY e {
  a = $0[$1] parameter(0)
  i = $0[] constant(0)
  ROOT r = $0[$4] reduce(a, i), dimensions={$2}, to_apply=g
})",
                          type, dims, over, operation, result);
}

// exp(a - max(a)) / sum of it, along the last dimension.
std::string Softmax(absl::string_view type, absl::string_view dims,
                    absl::string_view rows) {
  return absl::Substitute(R"(HloModule m
g {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
h {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] maximum(x, y)
}
f {
  p = $0[$1] parameter(0)
  a = f32[$1] convert(p)
  l = f32[] constant(-inf)
  i = f32[] constant(0)
  m = f32[$2] reduce(a, l), dimensions={2}, to_apply=h
  n = f32[$1] broadcast(m), dimensions={0,1}
  d = f32[$1] subtract(a, n)
  e = f32[$1] exponential(d)
  s = f32[$2] reduce(e, i), dimensions={2}, to_apply=g
  t = f32[$1] broadcast(s), dimensions={0,1}
  q = f32[$1] divide(e, t)
  ROOT r = $0[$1] convert(q)
}
ENTRY e {
  p = $0[$1] parameter(0)
  ROOT r = $0[$1] fusion(p), kind=kInput, calls=f
})",
                          type, dims, rows);
}

const isa::Window& Result(const isa::Kernel& k) {
  return *std::find_if(
      k.windows.begin(), k.windows.end(),
      [](const isa::Window& w) { return w.direction == isa::Direction::kOut; });
}

TEST(ReduceWindowsTest, SumsOfPlanesMayBeLargerThanVmem) {
  HarnessOptions options;
  options.chip = "v5e";
  ASSERT_OK_AND_ASSIGN(
      const HarnessResult result,
      CompareKernel(Reduced("f32", "2,2056,2052", 0, "add", "2056,2052"),
                    options));
  EXPECT_LT(result.kernel.vmem_bytes, int64_t{2056} * 2052 * 4);
  EXPECT_GE(Result(result.kernel).slots, 2);
}

TEST(ReduceWindowsTest, ResultsThatMoveEqualTheEvaluator) {
  for (const char* chip : {"v2", "v4", "v5p", "v6e", "tpu7x"}) {
    HarnessOptions options;
    options.chip = chip;
    for (const char* type : {"f32", "bf16"}) {
      for (const auto& text :
           {Reduced(type, "3,7,127", 0, "add", "7,127"),
            Reduced(type, "5,129,1000", 0, "maximum", "129,1000"),
            Reduced(type, "2,3,200,129", 1, "maximum", "2,200,129"),
            Reduced(type, "9,4,5,100,129", 2, "maximum", "9,4,100,129"),
            Reduced(type, "300,16,256", 0, "maximum", "16,256")}) {
        EXPECT_OK(CompareKernel(text, options).status()) << chip << text;
      }
    }
  }
}

// Of 1,000 planes a step takes 16, with two rows of tiles: 63 steps of each of
// two cores. One core takes 8 and all four rows, 125 steps.
TEST(ReduceWindowsTest, AStepHasThePlanesThatLeaveTheFewestSteps) {
  for (const auto& [chip, grid] :
       {std::pair("v5p", std::vector<int64_t>{2, 63}),
        std::pair("v5e", std::vector<int64_t>{125})}) {
    HarnessOptions options;
    options.chip = chip;
    ASSERT_OK_AND_ASSIGN(
        const HarnessResult result,
        CompareKernel(Reduced("f32", "1000,32,512", 0, "maximum", "32,512"),
                      options));
    EXPECT_EQ(result.kernel.grid, grid) << chip;
  }
}

TEST(ReduceWindowsTest, CoresShareSumsOfPlanes) {
  HarnessOptions options;
  options.chip = "v5p";
  ASSERT_OK_AND_ASSIGN(
      const HarnessResult result,
      CompareKernel(Reduced("f32", "8,512,1024", 0, "add", "512,1024"),
                    options));
  EXPECT_GE(result.kernel.megacore_dim, 0);
}

// 2048 rows of 4 members: the members' values are rows of the same tiles, so
// that a core has a half of the columns of all of them.
TEST(ReduceWindowsTest, CoresShareRowsWhoseResultsLieInLanes) {
  for (const char* chip : {"v4", "v5p"}) {
    HarnessOptions options;
    options.chip = chip;
    ASSERT_OK_AND_ASSIGN(
        const HarnessResult result,
        CompareKernel(Reduced("f32", "4,2048,512", 2, "maximum", "4,2048"),
                      options));
    ASSERT_GE(result.kernel.megacore_dim, 0) << chip;
    const isa::Window& w = Result(result.kernel);
    EXPECT_EQ(w.dims.back().grid_dim, result.kernel.megacore_dim);
    EXPECT_EQ(w.dims.back().block * 2, w.dims.back().extent);
  }
}

TEST(ReduceWindowsTest, PartsOfCoresEqualTheEvaluator) {
  for (const char* chip : {"v4", "v5p"}) {
    HarnessOptions options;
    options.chip = chip;
    for (const char* type : {"f32", "bf16"}) {
      for (const auto& text :
           {Reduced(type, "5,1000,512", 2, "maximum", "5,1000"),
            Reduced(type, "129,127,300", 2, "maximum", "129,127"),
            Reduced(type, "3,40,300,129", 3, "maximum", "3,40,300"),
            Reduced(type, "7,300,2000", 1, "maximum", "7,2000"),
            Reduced(type, "1000,40,129", 1, "maximum", "1000,129"),
            Reduced(type, "6,16,640,256", 3, "maximum", "6,16,640")}) {
        EXPECT_OK(CompareKernel(text, options).status()) << chip << text;
      }
    }
  }
}

// Two of four members are a core's, although all four share tiles; of words
// that three members share with the fourth, rows are taken instead.
TEST(ReduceWindowsTest, CoresShareTilesThatLieInVmem) {
  HarnessOptions options;
  options.chip = "v5p";
  options.in_vmem = {2};
  ASSERT_OK_AND_ASSIGN(
      const HarnessResult four,
      CompareKernel(Reduced("f32", "4,128,4096", 2, "maximum", "4,128"),
                    options));
  EXPECT_EQ(four.kernel.megacore_dim, 0);
  ASSERT_OK_AND_ASSIGN(
      const HarnessResult six,
      CompareKernel(Reduced("bf16", "6,2048,512", 2, "maximum", "6,2048"),
                    options));
  EXPECT_EQ(six.kernel.megacore_dim, 1);
}

// 21 members of 48 tiles would fit a step; 16 are whole tiles of results.
TEST(ReduceWindowsTest, StepsHaveWholeTilesOfMembersWhereCoresShareThem) {
  const std::string text = R"(HloModule m
g {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
f {
  p = bf16[96,384,128] parameter(0)
  a = f32[96,384,128] convert(p)
  i = f32[] constant(0)
  ROOT r = f32[96,384] reduce(a, i), dimensions={2}, to_apply=g
}
ENTRY e {
  p = bf16[96,384,128] parameter(0)
  ROOT r = f32[96,384] fusion(p), kind=kInput, calls=f
})";
  for (const auto& [chip, steps] : {std::pair("v5p", 6), std::pair("v6e", 5)}) {
    HarnessOptions options;
    options.chip = chip;
    options.low = 0;
    ASSERT_OK_AND_ASSIGN(const HarnessResult result,
                         CompareKernel(text, options));
    EXPECT_EQ(result.kernel.grid[0], steps) << chip;
  }
}

TEST(ReduceWindowsTest, CoresShareASoftmax) {
  for (const char* chip : {"v4", "v5p"}) {
    HarnessOptions options;
    options.chip = chip;
    for (const char* type : {"f32", "bf16"}) {
      ASSERT_OK_AND_ASSIGN(
          const HarnessResult result,
          CompareKernel(Softmax(type, "5,1000,640", "5,1000"), options));
      EXPECT_GE(result.kernel.megacore_dim, 0) << chip << " " << type;
    }
  }
}

// Rows of the result are planes of what is reduced: their tiles move with the
// grid, so that a result of any size fits.
TEST(ReduceWindowsTest, PlanesThatBecomeRowsMoveWithTheSteps) {
  for (const char* chip : {"v3", "v4", "v6e"}) {
    HarnessOptions options;
    options.chip = chip;
    options.relative = options.absolute = 0.02;
    for (const char* type : {"f32", "bf16"}) {
      for (const auto& [dims, result] :
           std::vector<std::pair<const char*, const char*>>{
               {"1024,2,512", "1024,512"},
               {"515,3,4096", "515,4096"},
               {"2000,4,2000", "2000,2000"},
               {"250,16,1024", "250,1024"},
               {"140,16,4096", "140,4096"},
               {"70,12,16384", "70,16384"}}) {
        ASSERT_OK_AND_ASSIGN(
            const HarnessResult made,
            CompareKernel(Reduced(type, dims, 1, "add", result), options));
        const isa::Window& w = made.kernel.windows.back();
        ASSERT_EQ(w.direction, isa::Direction::kOut);
        const bool moves = std::any_of(
            w.dims.begin(), w.dims.end(),
            [](const isa::WindowDim& d) { return d.grid_dim >= 0; });
        // What takes a sixteenth of VMEM at most is stored at the end.
        const bool small = w.slot_bytes <= 2 << 20;
        EXPECT_TRUE(moves || small) << chip << " " << type << " " << dims;
      }
      // Lanes are reduced, rows become lanes.
      ASSERT_OK_AND_ASSIGN(
          const HarnessResult lanes,
          CompareKernel(Reduced(type, "2100,300,16", 2, "maximum", "2100,300"),
                        options));
      const isa::Window& w = lanes.kernel.windows.back();
      EXPECT_TRUE(w.slot_bytes <= 2 << 20) << chip << " " << type;
      // Planes of planes.
      EXPECT_OK(
          CompareKernel(Reduced(type, "7,96,4,384", 2, "maximum", "7,96,384"),
                        options)
              .status())
          << chip << " " << type;
      EXPECT_OK(CompareKernel(Reduced(type, "3,8,12,256", 2, "add", "3,8,256"),
                              options)
                    .status())
          << chip << " " << type;
    }
  }
}

// 600 tiles would fit one step of 1,024, which is one core's.
TEST(ReduceWindowsTest, CoresShareWhatOneStepWouldHold) {
  for (const auto& [chip, steps] : {std::pair("v4", 2), std::pair("v6e", 1)}) {
    HarnessOptions options;
    options.chip = chip;
    ASSERT_OK_AND_ASSIGN(
        const HarnessResult result,
        CompareKernel(Softmax("f32", "12,197,197", "12,197"), options));
    int64_t made = 1;
    for (const int64_t extent : result.kernel.grid) made *= extent;
    EXPECT_EQ(made, steps) << chip;
  }
}

// Planes fill a step from the innermost on: 32 groups of 6, whose sums two
// cores can share, not one of each of 100.
TEST(ReduceWindowsTest, InnerPlanesStayTogetherBesideAnotherResult) {
  const std::string text = R"(HloModule m
g {
  x = bf16[] parameter(0)
  y = bf16[] parameter(1)
  ROOT z = bf16[] add(x, y)
}
f {
  p = bf16[100,6,16,256] parameter(0)
  i = bf16[] constant(0)
  r = bf16[100,6,16] reduce(p, i), dimensions={3}, to_apply=g
  n = bf16[100,6,16,256] negate(p)
  ROOT t = (bf16[100,6,16], bf16[100,6,16,256]) tuple(r, n)
}
ENTRY e {
  p = bf16[100,6,16,256] parameter(0)
  ROOT t = (bf16[100,6,16], bf16[100,6,16,256]) fusion(p), kind=kInput, calls=f
})";
  HarnessOptions options;
  options.chip = "v5p";
  options.in_vmem = {1};
  ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel, KernelOf(text, options));
  EXPECT_GE(kernel.megacore_dim, 0) << kernel.note;
}

}  // namespace
}  // namespace ptxla::lowering
