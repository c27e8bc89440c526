// Values that something else could overwrite: what a branch passes through,
// the number of the device, the planes of 64-bit results.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/driver/verification/verify_text.h"

namespace ptxla::driver {
namespace {

void ExpectRight(absl::string_view text) {
  for (const char* slice : {"v4:1x1x1", "v6e-1"}) {
    const auto v = VerifyText(text, slice);
    ASSERT_TRUE(v.ok()) << v.status();
    EXPECT_TRUE(v->ok()) << v->Line() << "\n" << v->Details();
  }
}

// One branch gives its operand back, the other writes its result: not there.
TEST(KeptValuesTest, WhatABranchPassesThroughStaysForOthers) {
  for (const char* selector : {"constant(0)", "constant(1)"}) {
    ExpectRight(absl::StrCat(R"(HloModule m
same { ROOT x = f32[8,128] parameter(0) }
other { x = f32[8,128] parameter(0)  ROOT r = f32[8,128] negate(x) }
ENTRY e {
  p = f32[8,128] parameter(0)
  x = f32[8,128] exponential(p)
  s = s32[] )",
                             selector, R"(
  c = f32[8,128] conditional(s, x, x), branch_computations={same, other}
  ROOT t = (f32[8,128], f32[8,128]) tuple(x, c)
})"));
  }
}

// The constant is there for the next execution, and while others lie elsewhere.
TEST(KeptValuesTest, AConstantThatABranchPassesThrough) {
  ExpectRight(R"(HloModule m
same { ROOT x = s32[8,128] parameter(0) }
other { x = s32[8,128] parameter(0)  ROOT r = s32[8,128] negate(x) }
ENTRY e {
  p = s32[8,128] parameter(0)
  a = s32[8,128] sort(p), dimensions={0}, to_apply=less
  b = s32[8,128] sort(a), dimensions={1}, to_apply=less
  one = s32[] parameter(1)
  nine = s32[] constant(9)
  x = s32[8,128] iota(), iota_dimension=1
  c = s32[8,128] conditional(nine, x, x), branch_computations={same, other}
  ROOT t = (s32[8,128], s32[8,128]) tuple(b, c)
}
less { x = s32[] parameter(0)  y = s32[] parameter(1)  ROOT r = pred[] compare(x, y), direction=LT })");
}

// A loop of five rounds over {number, a, b}; `body` makes `next.a` and
// `next.b`.
std::string Loop(absl::string_view body) {
  return absl::StrCat(R"(HloModule m
body {
  s = (s32[], f32[9,129], f32[9,129]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = f32[9,129] get-tuple-element(s), index=1
  b = f32[9,129] get-tuple-element(s), index=2
  zero = s32[] constant(0)
  one = s32[] constant(1)
  n = s32[] add(i, one)
  row = f32[1,129] dynamic-slice(b, n, zero), dynamic_slice_sizes={1,129}
)",
                      body, R"(
  ROOT r = (s32[], f32[9,129], f32[9,129]) tuple(n, next.a, next.b)
}
condition {
  s = (s32[], f32[9,129], f32[9,129]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  five = s32[] constant(5)
  ROOT more = pred[] compare(i, five), direction=LT
}
ENTRY e {
  p = f32[9,129] parameter(0)
  q = f32[9,129] parameter(1)
  zero = s32[] constant(0)
  t = (s32[], f32[9,129], f32[9,129]) tuple(zero, p, q)
  ROOT w = (s32[], f32[9,129], f32[9,129]) while(t), condition=condition, body=body
})");
}

// Words, and pairs of words whose halves are made one by one.
void ExpectLoopRight(absl::string_view body) {
  const std::string text = Loop(body);
  ExpectRight(text);
  ExpectRight(absl::StrReplaceAll(text, {{"s32", "s64"}, {"f32", "s64"}}));
}

TEST(KeptValuesTest, AStateThatIsUpdatedInPlaceAndPassedOnToAnother) {
  ExpectLoopRight(R"(
  next.a = f32[9,129] dynamic-update-slice(a, row, i, zero)
  next.b = f32[9,129] copy(a))");
}

// Two updates, the second of what the old state decides.
TEST(KeptValuesTest, AStateThatIsReadBetweenItsUpdates) {
  ExpectLoopRight(R"(
  once = f32[9,129] dynamic-update-slice(a, row, i, zero)
  old = f32[1,129] dynamic-slice(a, i, zero), dynamic_slice_sizes={1,129}
  new = f32[1,129] dynamic-slice(once, i, zero), dynamic_slice_sizes={1,129}
  both = f32[1,129] add(old, new)
  next.a = f32[9,129] dynamic-update-slice(once, both, n, zero)
  next.b = f32[9,129] copy(b))");
}

// The next counter may be there before the last reader of this one.
TEST(KeptValuesTest, ACounterThatIsReadByWhatTheNextStateIsMadeOf) {
  ExpectLoopRight(R"(
  first = f32[1,7] slice(row), slice={[0:1], [0:7]}
  some = f32[1,7] dynamic-slice(a, i, zero), dynamic_slice_sizes={1,7}
  both = f32[1,7] multiply(first, some)
  next.a = f32[9,129] dynamic-update-slice(a, both, i, zero)
  next.b = f32[9,129] copy(b))");
}

TEST(KeptValuesTest, TheNumberOfTheDevice) {
  ExpectRight(R"(HloModule m
less { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT r = pred[] compare(x, y), direction=LT }
ENTRY e {
  p = f32[300] parameter(0)
  a = f32[300] sort(p), dimensions={0}, to_apply=less
  n = f32[300] negate(a)
  b = f32[300] sort(n), dimensions={0}, to_apply=less
  id = u32[] partition-id()
  replica = u32[] replica-id()
  ROOT t = (f32[300], u32[], u32[]) tuple(b, id, replica)
})");
}

// A barrier is no memory of its own: its elements are copied where its
// operand's would be.
TEST(KeptValuesTest, WhatABarrierPassesThrough) {
  ExpectRight(R"(HloModule m
less { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT r = pred[] compare(x, y), direction=LT }
ENTRY e {
  p = f32[300] parameter(0)
  q = f32[300] parameter(1)
  a = f32[300] sort(q), dimensions={0}, to_apply=less
  id = u32[] partition-id()
  t = (f32[300], u32[], f32[300]) tuple(p, id, a)
  b = (f32[300], u32[], f32[300]) opt-barrier(t)
  x = f32[300] get-tuple-element(b), index=0
  y = u32[] get-tuple-element(b), index=1
  z = f32[300] get-tuple-element(b), index=2
  w = f32[300] negate(z)
  c = f32[300] sort(w), dimensions={0}, to_apply=less
  ROOT r = (f32[300], u32[], f32[300], f32[300]) tuple(x, y, c, z)
})");
}

TEST(KeptValuesTest, ThePlanesOfAnF64WithAConstantPart) {
  ExpectRight(R"(HloModule m
ENTRY e {
  p = f32[] parameter(0)
  s = f32[] add(p, p)
  ROOT r = f64[] convert(s)
})");
}

// Packed bits have no sign of their own.
TEST(KeptValuesTest, SmallNegativeNumbers) {
  for (const char* type : {"s1", "s2", "s4"}) {
    ExpectRight(absl::StrReplaceAll(R"(HloModule m
ENTRY e {
  p = @[5,7] parameter(0)
  ROOT r = (@[5,7], @[5,7]) tuple(p, p)
})",
                                    {{"@", type}}));
  }
}

}  // namespace
}  // namespace ptxla::driver
