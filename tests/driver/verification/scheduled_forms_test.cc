// What TPU compilers write into scheduled modules and ours does not: bundles of
// it against the evaluator.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "chips/topology.h"
#include "gtest/gtest.h"
#include "hlo_backend/compiler/compiler.h"
#include "hlo_backend/ir/parser.h"
#include "tests/driver/verification/verify_text.h"
#include "tests/support/status_matchers.h"

namespace ptxla::driver {
namespace {

void ExpectVerified(const std::string& hlo) {
  for (const char* slice : {"v4-8", "v5e-1", "v6e-1"}) {
    const auto v = VerifyText(hlo, slice);
    ASSERT_TRUE(v.ok()) << slice << ": " << v.status();
    EXPECT_TRUE(v->ok()) << slice << ": " << v->Line();
  }
}

// Every operation of the scalar unit, on numbers that are large without a sign
// and negative with one, by what they do to a vector.
TEST(ScheduledFormsTest, ScalarsInSmem) {
  for (const char* order : {"LT", "LE", "GT", "GE", "EQ", "NE"}) {
    ExpectVerified(absl::Substitute(R"(HloModule m, is_scheduled=true
ENTRY e {
  i = u32[]{:T(128)} parameter(0)
  j = s32[]{:T(128)} parameter(1)
  x = u32[8,128]{1,0:T(8,128)} parameter(2)
  k = u32[]{:T(128)} constant(4026531839)
  s = u32[]{:T(128)} constant(3)
  a = u32[]{:T(128)S(6)} or(i, k)
  l = u32[]{:T(128)S(6)} shift-left(a, s)
  r = u32[]{:T(128)S(6)} shift-right-logical(a, s)
  t = s32[]{:T(128)} constant(2)
  g = s32[]{:T(128)S(6)} convert(a)
  h = s32[]{:T(128)S(6)} shift-right-arithmetic(g, t)
  v = u32[]{:T(128)S(6)} bitcast-convert(h)
  p = pred[]{:T(512)S(6)} compare(l, i), direction=$0
  q = pred[]{:T(512)S(6)} compare(h, j), direction=$0
  o = pred[]{:T(512)S(6)} xor(p, q)
  w = u32[]{:T(128)S(6)} convert(o)
  m = u32[]{:T(128)S(6)} multiply(w, r)
  y = u32[]{:T(128)} select(p, m, v)
  b = u32[8,128]{1,0:T(8,128)} broadcast(y), dimensions={}
  z = u32[8,128]{1,0:T(8,128)} add(x, b)
  n = u32[]{:T(128)} copy(m)
  ROOT u = (u32[8,128]{1,0:T(8,128)}, u32[]{:T(128)}) tuple(z, n)
})",
                                    order));
  }
}

// A counter, a bound and what is made of them, read by kernels; a counter that
// is left behind the loop.
TEST(ScheduledFormsTest, ScalarsOfALoop) {
  ExpectVerified(R"(HloModule m, is_scheduled=true
slice {
  x = s32[16,8,128]{2,1,0:T(8,128)} parameter(0)
  i = s32[]{:T(128)S(6)} parameter(1)
  p = pred[]{:T(512)S(6)} parameter(2)
  y = s32[8,128]{1,0:T(8,128)} parameter(3)
  zero = s32[]{:T(128)} constant(0)
  d = s32[1,8,128]{2,1,0:T(8,128)} dynamic-slice(x, i, zero, zero), dynamic_slice_sizes={1,8,128}
  b = s32[8,128]{1,0:T(8,128)} bitcast(d)
  q = pred[8,128]{1,0:T(8,128)(4,1)} broadcast(p), dimensions={}
  n = s32[8,128]{1,0:T(8,128)} negate(b)
  s = s32[8,128]{1,0:T(8,128)} select(q, b, n)
  ROOT r = s32[8,128]{1,0:T(8,128)} add(s, y)
}
body {
  one = s32[]{:T(128)} constant(1)
  s = (s32[]{:T(128)}, s32[16,8,128]{2,1,0:T(8,128)}, s32[8,128]{1,0:T(8,128)}, s32[]{:T(128)}) parameter(0)
  i = s32[]{:T(128)} get-tuple-element(s), index=0
  c = s32[]{:T(128)S(6)} copy(i)
  next = s32[]{:T(128)} add(c, one)
  m = s32[]{:T(128)S(6)} negate(c)
  odd = s32[]{:T(128)S(6)} and(m, one)
  p = pred[]{:T(512)S(6)} compare(odd, one), direction=EQ
  x = s32[16,8,128]{2,1,0:T(8,128)} get-tuple-element(s), index=1
  y = s32[8,128]{1,0:T(8,128)} get-tuple-element(s), index=2
  n = s32[]{:T(128)} get-tuple-element(s), index=3
  z = s32[8,128]{1,0:T(8,128)} fusion(x, c, p, y), kind=kLoop, calls=slice
  ROOT t = (s32[]{:T(128)}, s32[16,8,128]{2,1,0:T(8,128)}, s32[8,128]{1,0:T(8,128)}, s32[]{:T(128)}) tuple(next, x, z, n)
}
condition {
  s = (s32[]{:T(128)}, s32[16,8,128]{2,1,0:T(8,128)}, s32[8,128]{1,0:T(8,128)}, s32[]{:T(128)}) parameter(0)
  i = s32[]{:T(128)} get-tuple-element(s), index=0
  n = s32[]{:T(128)} get-tuple-element(s), index=3
  ROOT less = pred[]{:T(512)} compare(i, n), direction=LT
}
ENTRY e {
  x = s32[16,8,128]{2,1,0:T(8,128)} parameter(0)
  y = s32[8,128]{1,0:T(8,128)} parameter(1)
  zero = s32[]{:T(128)} constant(0)
  n = s32[]{:T(128)} constant(7)
  start = s32[]{:T(128)} copy(zero)
  own = s32[8,128]{1,0:T(8,128)} copy(y)
  t = (s32[]{:T(128)}, s32[16,8,128]{2,1,0:T(8,128)}, s32[8,128]{1,0:T(8,128)}, s32[]{:T(128)}) tuple(start, x, own, n)
  w = (s32[]{:T(128)}, s32[16,8,128]{2,1,0:T(8,128)}, s32[8,128]{1,0:T(8,128)}, s32[]{:T(128)}) while(t), condition=condition, body=body
  z = s32[8,128]{1,0:T(8,128)} get-tuple-element(w), index=2
  count = s32[]{:T(128)} get-tuple-element(w), index=0
  ROOT r = (s32[8,128]{1,0:T(8,128)}, s32[]{:T(128)}) tuple(z, count)
})");
}

TEST(ScheduledFormsTest, CopiesBetweenLinearRowsAndTiles) {
  for (const int features : {128, 256, 512}) {
    for (const int rows : {8, 72, 136}) {
      ExpectVerified(absl::Substitute(R"(HloModule m, is_scheduled=true
ENTRY e {
  p = f32[$0,$1,1,1]{1,3,2,0:T(1,128)} parameter(0)
  c = f32[$0,$1,1,1]{0,1,3,2:T(8,128)} copy(p)
  n = f32[$0,$1,1,1]{0,1,3,2:T(8,128)} negate(c)
  ROOT d = f32[$0,$1,1,1]{1,3,2,0:T(1,128)} copy(n)
})",
                                      rows, features));
    }
  }
}

// Halves of a 64-bit array lie in one buffer; in VMEM each would begin where no
// kernel looks for one.
TEST(ScheduledFormsTest, HalvesOfASmallArrayInVmem) {
  ExpectVerified(R"(HloModule m, is_scheduled=true
ENTRY e {
  p = u32[2]{0:T(128)} parameter(0)
  q = u32[2]{0:T(128)} parameter(1)
  a = u32[2]{0:T(128)S(1)} add(p, q)
  b = u32[2]{0:T(128)S(1)} multiply(p, q)
  w = u64[2]{0:T(128)S(1)} custom-call(a, b), custom_call_target="X64Combine"
  l = u32[2]{0:T(128)S(1)} custom-call(w), custom_call_target="X64SplitLow"
  h = u32[2]{0:T(128)S(1)} custom-call(w), custom_call_target="X64SplitHigh"
  ROOT r = u32[2]{0:T(128)} subtract(l, h)
})");
}

// A walk over rows that no tile divides takes an array in VMEM whole, once more
// beside itself: 139 MB, where the kernel's program does not verify.
TEST(ScheduledFormsTest, ATransposeWhoseBlockVmemDoesNotHoldReadsHbm) {
  ASSERT_OK_AND_ASSIGN(const auto slice, chips::ParseSlice("v5e-1"));
  ASSERT_OK_AND_ASSIGN(auto module,
                       hlo::ParseModule(R"(HloModule m, is_scheduled=true
ENTRY e {
  p = bf16[8,128,17002]{1,2,0:T(8,128)(2,1)} parameter(0)
  x = bf16[8,128,17002]{1,2,0:T(8,128)(2,1)S(1)} negate(p)
  ROOT c = bf16[8,128,17002]{1,0,2:T(8,128)(2,1)} copy(x)
})",
                                        "m.hlo"));
  hlo::CompileOptions options;
  options.pipeline.verify = true;
  EXPECT_OK(hlo::Compile(std::move(module), slice.chip, slice.topology, options)
                .status());
}

// Inside of a fusion that is taken apart because one of its arrays is turned,
// a copy to other tiles moves what a bitcast would not.
// A mask of all members, and a bias of each head, in front of a product; rows
// and columns fill no tiles.
TEST(ScheduledFormsTest, APlaneThatMembersShareInFrontOfAProduct) {
  for (const char* mask :
       {"[200,130]{1,0:T(8,128)} 2,3", "[3,200,130]{2,1,0:T(8,128)} 1,2,3"}) {
    const std::vector<std::string> parts = absl::StrSplit(mask, ' ');
    ExpectVerified(absl::Substitute(R"(HloModule m, is_scheduled=true
f {
  s = f32[2,3,200,130]{3,2,1,0:T(8,128)} parameter(0)
  k = f32$0 parameter(1)
  v = bf16[2,3,40,200]{3,2,1,0:T(8,128)(2,1)} parameter(2)
  kb = f32[2,3,200,130]{3,2,1,0:T(8,128)} broadcast(k), dimensions={$1}
  x = f32[2,3,200,130]{3,2,1,0:T(8,128)} add(s, kb)
  p = bf16[2,3,200,130]{3,2,1,0:T(8,128)(2,1)} convert(x)
  ROOT o = f32[2,3,40,130]{3,2,1,0:T(8,128)} dot(v, p), lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_contracting_dims={2}
}
ENTRY e {
  s = f32[2,3,200,130]{3,2,1,0:T(8,128)} parameter(0)
  k = f32$0 parameter(1)
  v = bf16[2,3,40,200]{3,2,1,0:T(8,128)(2,1)} parameter(2)
  ROOT r = f32[2,3,40,130]{3,2,1,0:T(8,128)} fusion(s, k, v), kind=kOutput, calls=f
})",
                                    parts[0], parts[1]));
  }
}

TEST(ScheduledFormsTest, OtherTilesInsideOfAFusion) {
  ExpectVerified(R"(HloModule m, is_scheduled=true
f {
  p = pred[64,512]{1,0:T(32,128)(4,1)} parameter(0)
  x = f32[64,512]{1,0:T(8,128)} parameter(1)
  g = bf16[64,256]{1,0:T(8,128)(2,1)} parameter(2)
  w = f32[256,512]{0,1:T(8,128)} parameter(3)
  c = pred[64,512]{1,0:T(8,128)(4,1)} copy(p)
  z = f32[] constant(0)
  b = f32[64,512]{1,0:T(8,128)} broadcast(z), dimensions={}
  s = f32[64,512]{1,0:T(8,128)} select(c, x, b)
  d = f32[512,256]{1,0:T(8,128)} convolution(s, g), dim_labels=fb_io->bf
  t = f32[256,512]{0,1:T(8,128)} bitcast(d)
  a = f32[256,512]{0,1:T(8,128)} add(t, w)
  ROOT r = (f32[256,512]{0,1:T(8,128)}, f32[512,256]{1,0:T(8,128)}) tuple(a, d)
}
ENTRY e {
  y = f32[64,512]{1,0:T(8,128)} parameter(0)
  x = f32[64,512]{1,0:T(8,128)} parameter(1)
  g = bf16[64,256]{1,0:T(8,128)(2,1)} parameter(2)
  w = f32[256,512]{0,1:T(8,128)} parameter(3)
  q = pred[64,512]{1,0:T(8,128)(4,1)} compare(x, y), direction=LT
  p = pred[64,512]{1,0:T(32,128)(4,1)} copy(q)
  ROOT r = (f32[256,512]{0,1:T(8,128)}, f32[512,256]{1,0:T(8,128)}) fusion(p, x, g, w), kind=kOutput, calls=f
})");
}

TEST(ScheduledFormsTest, ASumThatIsTwoResults) {
  ExpectVerified(R"(HloModule m, is_scheduled=true
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT r = f32[] add(x, y)
}
f {
  p = f32[64,256]{1,0:T(8,128)} parameter(0)
  t = f32[64,256]{1,0:T(8,128)} tanh(p)
  z = f32[] constant(0)
  s = f32[64]{0:T(128)} reduce(t, z), dimensions={1}, to_apply=add
  ROOT r = (f32[64]{0:T(128)}, f32[64]{0:T(128)}, f32[64,256]{1,0:T(8,128)}) tuple(s, s, t)
}
ENTRY e {
  p = f32[64,256]{1,0:T(8,128)} parameter(0)
  ROOT r = (f32[64]{0:T(128)}, f32[64]{0:T(128)}, f32[64,256]{1,0:T(8,128)}) fusion(p), kind=kInput, calls=f
})");
}

}  // namespace
}  // namespace ptxla::driver
