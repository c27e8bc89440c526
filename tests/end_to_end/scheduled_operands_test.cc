// What kernels of a scheduled module read where: operands that the schedule
// put into VMEM, for kernels of ours that want them elsewhere.
#include <string>

#include "tests/end_to_end/scheduled_entry.h"

namespace ptxla::driver {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Rows of the image are too long for a step of whole ones, and steps in VMEM
// leave out what is beyond it along one axis only: windows come from HBM then,
// where the array still is.
TEST(ScheduledOperandsTest, WindowsSlideOverWhatACopyCameFrom) {
  const std::string entry = ScheduledEntry(R"(HloModule m, is_scheduled=true
ENTRY e {
  x = f32[8,1024,8,128]{3,2,1,0:T(8,128)} parameter(0)
  g = f32[8,1024,8,128]{3,2,1,0:T(8,128)} parameter(1)
  s = (f32[8,1024,8,128]{3,2,1,0:T(8,128)S(1)}, f32[8,1024,8,128]{3,2,1,0:T(8,128)}, u32[]{:S(2)}) copy-start(x)
  d = f32[8,1024,8,128]{3,2,1,0:T(8,128)S(1)} copy-done(s)
  ROOT c = f32[5,5,128,128]{3,2,1,0:T(8,128)} convolution(d, g), window={size=8x1024 pad=2_2x2_2}, dim_labels=01fb_01io->01fb
})");
  EXPECT_THAT(entry, HasSubstr("convolution("));
  EXPECT_THAT(entry, Not(HasSubstr("copy")));
}

// A convolution of one tap is a product of rows: the images are renamed, and
// the name lies where they do.
TEST(ScheduledOperandsTest, WhatIsOnlyRenamedForAProductStaysInVmem) {
  const std::string entry = ScheduledEntry(R"(HloModule m, is_scheduled=true
tap {
  x = bf16[32,28,28,512]{3,0,2,1:T(8,128)(2,1)S(1)} parameter(0)
  w = bf16[1,1,512,128]{3,2,1,0:T(8,128)(2,1)} parameter(1)
  ROOT c = bf16[32,28,28,128]{3,0,2,1:T(8,128)(2,1)} convolution(x, w), window={size=1x1}, dim_labels=b01f_01io->b01f
}
ENTRY e {
  x = bf16[32,28,28,512]{3,0,2,1:T(8,128)(2,1)} parameter(0)
  w = bf16[1,1,512,128]{3,2,1,0:T(8,128)(2,1)} parameter(1)
  s = (bf16[32,28,28,512]{3,0,2,1:T(8,128)(2,1)S(1)}, bf16[32,28,28,512]{3,0,2,1:T(8,128)(2,1)}, u32[]{:S(2)}) copy-start(x)
  d = bf16[32,28,28,512]{3,0,2,1:T(8,128)(2,1)S(1)} copy-done(s)
  ROOT r = bf16[32,28,28,128]{3,0,2,1:T(8,128)(2,1)} fusion(d, w), kind=kOutput, calls=tap
})",
                                           /*verify=*/false, "v6e-1");
  EXPECT_THAT(entry, HasSubstr("S(1)} copy-done("));
  EXPECT_THAT(entry,
              HasSubstr("bf16[25088,512]{1,0:T(8,128)(2,1)S(1)} bitcast("));
}

// 50 of the 63.9 MiB of v5p's VMEM, and windows of 15.2 MiB in the kernel
// before those that make and read them, whose windows are small.
TEST(ScheduledOperandsTest, WhatWindowsLeaveRoomForStaysInVmem) {
  const std::string text = R"(HloModule m, is_scheduled=true
double {
  x = f32[50,128,2048]{2,1,0:T(8,128)} parameter(0)
  ROOT a = f32[50,128,2048]{2,1,0:T(8,128)} add(x, x)
}
ENTRY e {
  p = f32[50,128,2048]{2,1,0:T(8,128)} parameter(0)
  q = f32[50,128,2048]{2,1,0:T(8,128)} fusion(p), kind=kLoop, calls=double
  square = f32[50,128,2048]{2,1,0:T(8,128)S(1)} multiply(q, q)
  ROOT sum = f32[50,128,2048]{2,1,0:T(8,128)} add(square, p)
})";
  EXPECT_THAT(ScheduledEntry(text, /*verify=*/true, "v5p:1x1x1"),
              HasSubstr("S(1)} multiply("));
}

// 40 MiB between the two kernels of a fusion, 20 MiB over four kernels, beside
// windows in 63.9 MiB: the former are read at once. (At first 50 MiB do not fit
// beside the scoped limit.)
TEST(ScheduledOperandsTest, APartOfAFusionStaysInVmemRatherThanWhatWaits) {
  const std::string entry = ScheduledEntry(R"(HloModule m, is_scheduled=true
stepped {
  x = f32[40,256,2048]{2,1,0:T(8,128)} parameter(0)
  s = f32[40,128,2048]{2,1,0:T(8,128)} slice(x), slice={[0:40], [0:256:2], [0:2048]}
  e = f32[40,128,2048]{2,1,0:T(8,128)} negate(s)
  ROOT n = f32[40,128,2048]{2,1,0:T(8,128)} multiply(e, s)
}
ENTRY e {
  u = f32[25,128,2048]{2,1,0:T(8,128)} parameter(0)
  p = f32[20,128,2048]{2,1,0:T(8,128)} parameter(1)
  x = f32[40,256,2048]{2,1,0:T(8,128)} parameter(2)
  square = f32[25,128,2048]{2,1,0:T(8,128)S(1)} multiply(u, u)
  minus = f32[25,128,2048]{2,1,0:T(8,128)S(1)} negate(square)
  both = f32[25,128,2048]{2,1,0:T(8,128)} multiply(square, minus)
  waits = f32[20,128,2048]{2,1,0:T(8,128)S(1)} multiply(p, p)
  o = f32[20,128,2048]{2,1,0:T(8,128)} negate(p)
  f = f32[40,128,2048]{2,1,0:T(8,128)} fusion(x), kind=kLoop, calls=stepped
  r = f32[20,128,2048]{2,1,0:T(8,128)} add(waits, o)
  ROOT t = (f32[25,128,2048]{2,1,0:T(8,128)}, f32[40,128,2048]{2,1,0:T(8,128)}, f32[20,128,2048]{2,1,0:T(8,128)}) tuple(both, f, r)
})",
                                           /*verify=*/false, "v5p:1x1x1");
  EXPECT_THAT(entry, HasSubstr("S(1)} slice("));
  EXPECT_THAT(entry, HasSubstr("waits = f32[20,128,2048]{2,1,0:T(8,128)} "));
}

// The batch of 8 in lanes would fill a sixteenth of the arrays.
TEST(ScheduledOperandsTest, AGradientThatContractsFewLanesIsTurned) {
  const std::string entry = ScheduledEntry(R"(HloModule m, is_scheduled=true
gradient {
  x = bf16[8,3,32,32]{0,1,3,2:T(4,128)(2,1)} parameter(0)
  g = f32[8,64,30,30]{1,0,3,2:T(8,128)} parameter(1)
  w = f32[64,3,3,3]{0,1,3,2:T(4,128)} parameter(2)
  c = f32[64,3,3,3]{0,1,3,2:T(4,128)} convolution(x, g), window={size=30x30}, dim_labels=fb01_io01->fb01
  ROOT s = f32[64,3,3,3]{0,1,3,2:T(4,128)} add(c, w)
}
ENTRY e {
  x = bf16[8,3,32,32]{0,1,3,2:T(4,128)(2,1)} parameter(0)
  g = f32[8,64,30,30]{1,0,3,2:T(8,128)} parameter(1)
  w = f32[64,3,3,3]{0,1,3,2:T(4,128)} parameter(2)
  ROOT r = f32[64,3,3,3]{0,1,3,2:T(4,128)} fusion(x, g, w), kind=kOutput, calls=gradient
})");
  EXPECT_THAT(entry, HasSubstr("bf16[32,32,8,3]"));
}

// A convolution that has to be compiled anew reads what the schedule has in
// VMEM there, where the kernels that stand for it can.
TEST(ScheduledOperandsTest, WhatStandsForAConvolutionReadsVmem) {
  const std::string entry = ScheduledEntry(R"(HloModule m, is_scheduled=true
ENTRY e {
  x = bf16[32,32,3,8]{3,2,1,0:T(4,128)(2,1)} parameter(0)
  w = bf16[3,3,3,64]{3,2,1,0:T(4,128)(2,1)} parameter(1)
  n = bf16[32,32,3,8]{3,2,1,0:T(4,128)(2,1)S(1)} negate(x)
  ROOT c = f32[30,30,8,64]{3,2,1,0:T(8,128)} convolution(n, w), window={size=3x3}, dim_labels=01fb_01io->01bf
})");
  EXPECT_THAT(entry, HasSubstr("transpose(%n)"));
  EXPECT_THAT(entry, Not(HasSubstr("copy(%n)")));
}

// share keys of 8 heads in one row of tiles; of planes it holds one.
TEST(ScheduledOperandsTest, MembersInRowsBecomePlanesWhereNoStepOfThemFits) {
  const std::string entry = ScheduledEntry(R"(HloModule m, is_scheduled=true
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
gradient {
  g = bf16[1,8,4,512,128]{4,3,2,1,0:T(8,128)(2,1)} parameter(0)
  v = bf16[1,8,512,128]{3,1,2,0:T(8,128)(2,1)} parameter(1)
  d = f32[1,8,4,512,512]{4,3,2,1,0:T(8,128)} dot(g, v), lhs_batch_dims={0,1}, lhs_contracting_dims={4}, rhs_batch_dims={0,1}, rhs_contracting_dims={3}
  i = f32[1,8,4,512]{3,2,1,0:T(4,128)} parameter(2)
  ib = f32[1,8,4,512,512]{4,3,2,1,0:T(8,128)} broadcast(i), dimensions={0,1,2,3}
  scaled = f32[1,8,4,512,512]{4,3,2,1,0:T(8,128)} multiply(d, ib)
  p = f32[1,8,4,512,512]{4,3,2,1,0:T(8,128)} parameter(3)
  weighted = f32[1,8,4,512,512]{4,3,2,1,0:T(8,128)} multiply(scaled, p)
  z = f32[]{:T(128)} constant(0)
  sum = f32[1,8,4,512]{3,2,1,0:T(4,128)} reduce(weighted, z), dimensions={4}, to_apply=add
  sb = f32[1,8,4,512,512]{4,3,2,1,0:T(8,128)} broadcast(sum), dimensions={0,1,2,3}
  less = f32[1,8,4,512,512]{4,3,2,1,0:T(8,128)} subtract(scaled, sb)
  ds = f32[1,8,4,512,512]{4,3,2,1,0:T(8,128)} multiply(less, p)
  ROOT r = bf16[1,8,4,512,512]{4,3,2,1,0:T(8,128)(2,1)} convert(ds)
}
ENTRY e {
  g = bf16[1,8,4,512,128]{4,3,2,1,0:T(8,128)(2,1)} parameter(0)
  v = bf16[1,8,512,128]{3,1,2,0:T(8,128)(2,1)} parameter(1)
  i = f32[1,8,4,512]{3,2,1,0:T(4,128)} parameter(2)
  p = f32[1,8,4,512,512]{4,3,2,1,0:T(8,128)} parameter(3)
  ROOT r = bf16[1,8,4,512,512]{4,3,2,1,0:T(8,128)(2,1)} fusion(g, v, i, p), kind=kOutput, calls=gradient
})");
  EXPECT_THAT(entry, HasSubstr("= bf16[1,8,512,128]{3,2,1,0:T(8,128)(2,1)"));
  EXPECT_THAT(entry, HasSubstr("transpose("));
  EXPECT_THAT(entry, HasSubstr("kind=kOutput"));
  EXPECT_THAT(entry, Not(HasSubstr("kind=kInput")));
  EXPECT_THAT(entry, Not(HasSubstr("kind=kLoop")));
}

}  // namespace
}  // namespace ptxla::driver
