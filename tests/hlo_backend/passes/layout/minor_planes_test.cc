// Blocks of lanes and points whose numbers become planes: are results the same?
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "tests/hlo_backend/passes/same_after_pass.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

// Largest numbers of blocks of 4 and 8 lanes, and what `work` makes of them.
void ExpectSameOfBlocks(const char* work) {
  for (const int numbers : {4, 8}) {
    const std::string text = absl::StrCat(R"(HloModule m
max {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] maximum(x, y)
}
ENTRY e {
  x = f32[64,2048] parameter(0)
  lowest = f32[] constant(-inf)
  b = f32[64,$1,$0] reshape(x)
)",
                                          work, "\n}\n");
    EXPECT_OK(SameAfterPass(absl::Substitute(text, numbers, 2048 / numbers),
                            "minor-planes"));
  }
}

TEST(MinorPlanesTest, BlocksOfLanesWithTheirScale) {
  ExpectSameOfBlocks(R"(  a = f32[64,$1,$0] abs(b)
  scale = f32[64,$1] reduce(a, lowest), dimensions={2}, to_apply=max
  s = f32[64,$1,$0] broadcast(scale), dimensions={0,1}
  d = f32[64,$1,$0] subtract(b, s)
  ROOT r = f32[64,2048] reshape(d))");
}

TEST(MinorPlanesTest, BlocksOfLanesThatAreOnlyReduced) {
  ExpectSameOfBlocks(
      "  ROOT r = f32[64,$1] reduce(b, lowest), dimensions={2}, to_apply=max");
}

TEST(MinorPlanesTest, PairsOfCountedNumbers) {
  EXPECT_OK(SameAfterPass(R"(HloModule m
add {
  x = s32[] parameter(0)
  y = s32[] parameter(1)
  ROOT s = s32[] add(x, y)
}
ENTRY e {
  seed = s32[] parameter(0)
  i = s32[5000] iota(), iota_dimension=0
  row = s32[5000,2] broadcast(i), dimensions={0}
  column = s32[5000,2] iota(), iota_dimension=1
  s = s32[5000,2] broadcast(seed), dimensions={}
  a = s32[5000,2] multiply(row, column)
  b = s32[5000,2] add(a, s)
  zero = s32[] constant(0)
  ROOT r = s32[5000] reduce(b, zero), dimensions={1}, to_apply=add
})",
                          "minor-planes"));
}

// Numbers of points that are put together, cut and padded.
TEST(MinorPlanesTest, NumbersThatComeAndGo) {
  EXPECT_OK(SameAfterPass(R"(HloModule m
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}
ENTRY e {
  a = f32[70,50] parameter(0)
  boxes = f32[70,50,4] parameter(1)
  one = f32[] constant(1)
  a1 = f32[70,50,1] reshape(a)
  low = f32[70,50,3] slice(boxes), slice={[0:70], [0:50], [1:4]}
  all = f32[70,50,4] concatenate(low, a1), dimensions={2}
  d = f32[70,50,4] subtract(boxes, all)
  every = f32[70,50,2] slice(d), slice={[0:70], [0:50], [0:4:2]}
  far = f32[70,50,4] pad(every, one), padding=0_0x0_0x1_0_1
  m = f32[70,50,4] multiply(far, d)
  zero = f32[] constant(0)
  sum = f32[70,50] reduce(m, zero), dimensions={2}, to_apply=add
  points = f32[50,4] reduce(m, zero), dimensions={0}, to_apply=add
  sums = f32[3500] reshape(sum)
  numbers = f32[200] reshape(points)
  ROOT t = f32[3700] concatenate(sums, numbers), dimensions={0}
})",
                          "minor-planes"));
}

}  // namespace
}  // namespace ptxla::hlo
