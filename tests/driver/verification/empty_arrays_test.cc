// Programs with arrays that have no elements run from their parameters to
// their results.
#include "gtest/gtest.h"
#include "tests/driver/verification/verify_text.h"

namespace ptxla::driver {
namespace {

class EmptyArraysTest : public ::testing::TestWithParam<const char*> {};

void ExpectRight(absl::string_view text, const char* slice) {
  const auto v = VerifyText(text, slice);
  ASSERT_TRUE(v.ok()) << v.status();
  EXPECT_TRUE(v->ok()) << v->Line() << "\n" << v->Details();
  EXPECT_TRUE(v->skipped.empty()) << v->skipped.front();
}

TEST_P(EmptyArraysTest, WhatReadsThemHasItsStart) {
  ExpectRight(R"(HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[8,0] parameter(0)
  y = f32[0,128] parameter(1)
  w = f32[8,128] parameter(2)
  start = f32[] constant(3)
  dot = f32[8,128] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  sum = f32[128] reduce(y, start), dimensions={0}, to_apply=add
  rows = f32[8,128] broadcast(sum), dimensions={1}
  joined = f32[8,128] concatenate(y, w), dimensions={0}
  a = f32[8,128] add(dot, rows)
  ROOT r = f32[8,128] multiply(a, joined)
})",
              GetParam());
}

TEST_P(EmptyArraysTest, ResultsAndLoopStatesMayBeEmpty) {
  ExpectRight(R"(HloModule m
body {
  s = (s32[], f32[0,16], f32[8,16]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  e = f32[0,16] get-tuple-element(s), index=1
  x = f32[8,16] get-tuple-element(s), index=2
  one = s32[] constant(1)
  m = s32[] add(n, one)
  f = f32[0,16] exponential(e)
  y = f32[8,16] concatenate(x, f), dimensions={0}
  z = f32[8,16] add(x, y)
  ROOT t = (s32[], f32[0,16], f32[8,16]) tuple(m, f, z)
}
condition {
  s = (s32[], f32[0,16], f32[8,16]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  k = s32[] constant(3)
  ROOT c = pred[] compare(n, k), direction=LT
}
ENTRY e {
  p = f32[0,16] parameter(0)
  x = f32[8,16] parameter(1)
  zero = s32[] constant(0)
  t = (s32[], f32[0,16], f32[8,16]) tuple(zero, p, x)
  w = (s32[], f32[0,16], f32[8,16]) while(t), condition=condition, body=body
  q = f32[0,16] get-tuple-element(w), index=1
  y = f32[8,16] get-tuple-element(w), index=2
  d = f32[0,16] negate(q)
  ROOT r = (f32[0,16], f32[8,16], f32[0,16]) tuple(d, y, p)
})",
              GetParam());
}

INSTANTIATE_TEST_SUITE_P(Chips, EmptyArraysTest,
                         ::testing::Values("v3-8", "v5e-1", "v6e-1"));

}  // namespace
}  // namespace ptxla::driver
