// Grid steps of reductions and of loops with operands of one dimension: those
// of the TPU compiler (libtpu 0.0.42.1 on v6e).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

isa::Kernel OnV6e(const std::string& hlo) {
  auto kernel = KernelOf(hlo);
  EXPECT_OK(kernel.status()) << hlo;
  return kernel.ok() ? *std::move(kernel) : isa::Kernel();
}

// The sum of f32[$dims] over $over, alone.
int64_t StepsOfSum(absl::string_view dims, absl::string_view over,
                   absl::string_view result) {
  return OnV6e(absl::Substitute(R"(HloModule m
g {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
ENTRY e {
  a = f32[$0] parameter(0)
  i = f32[] constant(0)
  ROOT r = f32[$2] reduce(a, i), dimensions={$1}, to_apply=g
})",
                                dims, over, result))
      .NumSteps();
}

// 128 tiles each; five columns of tiles fill no such step.
TEST(StepBlocksTest, ALoneSumHasTheFewestStepsOverAnyDimensions) {
  EXPECT_EQ(StepsOfSum("96,256,640", "0", "256,640"), 120);
  EXPECT_EQ(StepsOfSum("96,256,640", "1", "96,640"), 120);
  EXPECT_EQ(StepsOfSum("96,256,640", "2", "96,256"), 120);
  EXPECT_EQ(StepsOfSum("96,256,640", "0,1", "640"), 120);
  EXPECT_EQ(StepsOfSum("96,256,640", "0,2", "256"), 120);
  EXPECT_EQ(StepsOfSum("96,256,640", "1,2", "96"), 120);
  EXPECT_EQ(StepsOfSum("96,256,640", "0,1,2", ""), 120);
  EXPECT_EQ(StepsOfSum("512,8192", "0", "8192"), 32);
  EXPECT_EQ(StepsOfSum("8192,1024", "1", "8192"), 64);
  EXPECT_EQ(StepsOfSum("512,32000", "1", "512"), 125);
}

// 1,024 tiles: 8 planes of 64 rows and 2 columns, not whole rows of 6.
TEST(StepBlocksTest, AFusedSumTakesPartOfARow) {
  const isa::Kernel kernel = OnV6e(R"(HloModule m
g {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
f {
  a = f32[64,512,768] parameter(0)
  i = f32[] constant(0)
  s = f32[64,512,768] multiply(a, a)
  ROOT r = f32[64,768] reduce(s, i), dimensions={1}, to_apply=g
}
ENTRY e {
  a = f32[64,512,768] parameter(0)
  ROOT r = f32[64,768] fusion(a), kind=kInput, calls=f
})");
  EXPECT_EQ(kernel.NumSteps(), 24);
}

// Columns of tiles in a step, and steps, of y = x - v over v's dimension.
std::pair<int64_t, int64_t> ColumnsAndSteps(absl::string_view dims,
                                            absl::string_view length,
                                            int along) {
  const isa::Kernel kernel = OnV6e(absl::Substitute(R"(HloModule m
f {
  x = f32[$0] parameter(0)
  v = f32[$1] parameter(1)
  b = f32[$0] broadcast(v), dimensions={$2}
  ROOT y = f32[$0] subtract(x, b)
}
ENTRY e {
  x = f32[$0] parameter(0)
  v = f32[$1] parameter(1)
  ROOT r = f32[$0] fusion(x, v), kind=kLoop, calls=f
})",
                                                    dims, length, along));
  if (kernel.windows.empty()) return {0, 0};
  const std::vector<isa::WindowDim>& dims_of_x = kernel.windows[0].dims;
  return {dims_of_x.back().block, kernel.NumSteps()};
}

TEST(StepBlocksTest, ValuesOfColumnsWantHighBlocksAndValuesOfRowsWideOnes) {
  EXPECT_EQ(ColumnsAndSteps("1024,4096", "4096", 1), std::pair(8L, 4L));
  EXPECT_EQ(ColumnsAndSteps("1024,4096", "1024", 0), std::pair(32L, 4L));
}

// x * x, or its sum over rows; libtpu 0.0.42.1 on v6e.
int64_t StepsOfSquares(absl::string_view shape, absl::string_view result) {
  return OnV6e(absl::Substitute(R"(HloModule m
g {
  x = $2[] parameter(0)
  y = $2[] parameter(1)
  ROOT z = $2[] add(x, y)
}
f {
  x = $0 parameter(0)
  s = $0 multiply(x, x)
  i = $2[] constant(0)
  ROOT r = $1 $3
}
ENTRY e {
  x = $0 parameter(0)
  ROOT r = $1 fusion(x), kind=kLoop, calls=f
})",
                                shape, result, shape.substr(0, shape.find('[')),
                                shape == result
                                    ? "add(s, x)"
                                    : "reduce(s, i), dimensions={1}, "
                                      "to_apply=g"))
      .NumSteps();
}

TEST(StepBlocksTest, RowsThatFitVmemOnceAreOneStep) {
  EXPECT_EQ(StepsOfSquares("f32[1536,1024]", "f32[1536,1024]"), 1);
  EXPECT_EQ(StepsOfSquares("f32[2048,1024]", "f32[2048,1024]"), 2);
  EXPECT_EQ(StepsOfSquares("bf16[2560,1024]", "bf16[2560,1024]"), 1);
  EXPECT_EQ(StepsOfSquares("bf16[3072,1024]", "bf16[3072,1024]"), 3);
  EXPECT_EQ(StepsOfSquares("f32[2560,1024]", "f32[2560]"), 1);
  EXPECT_EQ(StepsOfSquares("f32[3072,1024]", "f32[3072]"), 3);
  // One dimension is cut from 1 M elements on.
  EXPECT_EQ(StepsOfSquares("f32[1048576]", "f32[1048576]"), 1);
  EXPECT_EQ(StepsOfSquares("f32[1310720]", "f32[1310720]"), 2);
}

// Seven dimensions that nothing joins, in windows of five.
TEST(StepBlocksTest, OfMoreDimensionsThanAWindowHasTheInnerOnesStayWhole) {
  for (const char* chip : {"v3", "v5p", "v6e"}) {
    HarnessOptions options;
    options.chip = chip;
    options.relative = options.absolute = 1e-3;
    EXPECT_OK(CompareKernel(R"(HloModule m
g {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
ENTRY e {
  a = f32[8,5,3,4,2,8,256] parameter(0)
  i = f32[] constant(0)
  ROOT r = f32[8,3,2,256] reduce(a, i), dimensions={1,3,5}, to_apply=g
})",
                            options)
                  .status())
        << chip;
    EXPECT_OK(CompareKernel(R"(HloModule m
f {
  x = f32[4,3,4,3,4,3,16,256] parameter(0)
  v = f32[256] parameter(1)
  w = f32[4,4,4] parameter(2)
  b = f32[4,3,4,3,4,3,16,256] broadcast(v), dimensions={7}
  c = f32[4,3,4,3,4,3,16,256] broadcast(w), dimensions={0,2,4}
  y = f32[4,3,4,3,4,3,16,256] add(x, b)
  ROOT z = f32[4,3,4,3,4,3,16,256] multiply(y, c)
}
ENTRY e {
  x = f32[4,3,4,3,4,3,16,256] parameter(0)
  v = f32[256] parameter(1)
  w = f32[4,4,4] parameter(2)
  ROOT r = f32[4,3,4,3,4,3,16,256] fusion(x, v, w), kind=kLoop, calls=f
})",
                            options)
                  .status())
        << chip;
  }
}

// Rows of which a tile has more than there are: their dimension is one tile.
TEST(StepBlocksTest, OfSevenDimensionsPackedRowsAndColumnsOfOneTileTakeNone) {
  for (const char* chip : {"v2", "v5e", "v6e"}) {
    for (const char* type : {"s8", "bf16", "f32"}) {
      HarnessOptions options;
      options.chip = chip;
      EXPECT_OK(CompareKernel(absl::Substitute(R"(HloModule m
f {
  p = $0[3,2,5,3,4,8,10] parameter(0)
  q = $0[3,5,8,10] parameter(1)
  b = $0[3,2,5,3,4,8,10] broadcast(q), dimensions={0,2,5,6}
  ROOT r = $0[3,2,5,3,4,8,10] add(p, b)
}
ENTRY e {
  p = $0[3,2,5,3,4,8,10] parameter(0)
  q = $0[3,5,8,10] parameter(1)
  ROOT r = $0[3,2,5,3,4,8,10] fusion(p, q), kind=kLoop, calls=f
})",
                                               type),
                              options)
                    .status())
          << chip << " " << type;
    }
  }
}

// A plain copy moves as much in a step as a fusion.
TEST(StepBlocksTest, ACopyHasLargeSteps) {
  EXPECT_EQ(OnV6e(R"(HloModule m
ENTRY e {
  x = bf16[8192,1024] parameter(0)
  ROOT r = bf16[8192,1024] copy(x)
})")
                .NumSteps(),
            8);
}

}  // namespace
}  // namespace ptxla::lowering
