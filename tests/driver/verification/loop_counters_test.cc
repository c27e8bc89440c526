// Do kernels start where the counters of their loops say, wherever those lie?
#include <string>

#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "tests/driver/verification/verify_text.h"

namespace ptxla::driver {
namespace {

// A scan as torch_xla writes one, forward or back: rows of a stack are read and
// written by a 64-bit counter, which is read as a number, too.
std::string Scan(const char* index, const char* shape, const char* row) {
  return absl::Substitute(R"(HloModule m
body {
  s = (s64[], f32[5,$1], f32[5,$1]) parameter(0)
  i = s64[] get-tuple-element(s), index=0
  x = f32[5,$1] get-tuple-element(s), index=1
  y = f32[5,$1] get-tuple-element(s), index=2
  one = s64[] constant(1)
  next = s64[] add(i, one)
  zero = s64[] constant(0)
  last = s64[] constant(4)
  back = s64[] subtract(last, i)
  a = f32[1,$1] dynamic-slice(x, $0, $2), dynamic_slice_sizes={1,$1}
  n = f32[] convert(i)
  m = f32[1,$1] broadcast(n), dimensions={}
  b = f32[1,$1] add(a, m)
  c = f32[1,$1] tanh(b)
  z = f32[5,$1] dynamic-update-slice(y, c, $0, $2)
  ROOT r = (s64[], f32[5,$1], f32[5,$1]) tuple(next, x, z)
}
condition {
  s = (s64[], f32[5,$1], f32[5,$1]) parameter(0)
  i = s64[] get-tuple-element(s), index=0
  most = s64[] constant(5)
  ROOT lt = pred[] compare(i, most), direction=LT
}
ENTRY e {
  x = f32[5,$1] parameter(0)
  none = f32[] constant(0)
  y = f32[5,$1] broadcast(none), dimensions={}
  zero = s64[] constant(0)
  t = (s64[], f32[5,$1], f32[5,$1]) tuple(zero, x, y)
  w = (s64[], f32[5,$1], f32[5,$1]) while(t), condition=condition, body=body
  ROOT z = f32[5,$1] get-tuple-element(w), index=2
})",
                          index, shape, row);
}

TEST(LoopCountersTest, RowsOfAStackForwardAndBack) {
  for (const char* slice : {"v3-8", "v4-8", "v5e-1", "v6e-1"}) {
    for (const char* index : {"i", "back"}) {
      for (const auto& text :
           {Scan(index, "127", "zero"), Scan(index, "16,128", "zero, zero")}) {
        const auto v = VerifyText(text, slice);
        ASSERT_TRUE(v.ok()) << slice << ": " << v.status();
        EXPECT_TRUE(v->ok()) << slice << ": " << v->Line() << text;
      }
    }
  }
}

// A recurrence: what a step makes is its state, and a plane of a stack; its
// weights are planes of another one, larger than the counter says at the end.
TEST(LoopCountersTest, ResultsThatAreStateAndPlane) {
  const std::string text = R"(HloModule m
body {
  s = (s32[], bf16[16,128], bf16[3,128,128], f32[5,16,128]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  h = bf16[16,128] get-tuple-element(s), index=1
  ws = bf16[3,128,128] get-tuple-element(s), index=2
  y = f32[5,16,128] get-tuple-element(s), index=3
  one = s32[] constant(1)
  next = s32[] add(i, one)
  zero = s32[] constant(0)
  w = bf16[1,128,128] dynamic-slice(ws, i, zero, zero), dynamic_slice_sizes={1,128,128}
  m = bf16[128,128] reshape(w)
  d = f32[16,128] dot(h, m), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[16,128] tanh(d)
  n = bf16[16,128] convert(t)
  u = f32[1,16,128] reshape(t)
  z = f32[5,16,128] dynamic-update-slice(y, u, i, zero, zero)
  ROOT r = (s32[], bf16[16,128], bf16[3,128,128], f32[5,16,128]) tuple(next, n, ws, z)
}
condition {
  s = (s32[], bf16[16,128], bf16[3,128,128], f32[5,16,128]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  most = s32[] constant(5)
  ROOT lt = pred[] compare(i, most), direction=LT
}
ENTRY e {
  h = bf16[16,128] parameter(0)
  ws = bf16[3,128,128] parameter(1)
  none = f32[] constant(0)
  y = f32[5,16,128] broadcast(none), dimensions={}
  zero = s32[] constant(0)
  t = (s32[], bf16[16,128], bf16[3,128,128], f32[5,16,128]) tuple(zero, h, ws, y)
  w = (s32[], bf16[16,128], bf16[3,128,128], f32[5,16,128]) while(t), condition=condition, body=body
  a = bf16[16,128] get-tuple-element(w), index=1
  b = f32[5,16,128] get-tuple-element(w), index=3
  ROOT r = (bf16[16,128], f32[5,16,128]) tuple(a, b)
})";
  for (const char* slice : {"v3-8", "v4-8", "v5e-1", "v6e-1"}) {
    const auto v = VerifyText(text, slice);
    ASSERT_TRUE(v.ok()) << slice << ": " << v.status();
    EXPECT_TRUE(v->ok()) << slice << ": " << v->Line();
  }
}

}  // namespace
}  // namespace ptxla::driver
