#include "hlo_backend/analysis/trip_count.h"

#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "hlo_backend/ir/parser.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

// A loop over (i, bound): $0 initial value, $1 next value of i, $2 the
// condition, $3 further attributes.
std::optional<TripCount> Trips(absl::string_view init, absl::string_view next,
                               absl::string_view condition,
                               absl::string_view attributes = "") {
  const std::string text = absl::Substitute(R"(HloModule t
    step { x = s32[] parameter(0)
      two = s32[] constant(2)
      ROOT r = s32[] add(x, two) }
    body {
      s = (s32[], s32[], s32[]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      bound = s32[] get-tuple-element(s), index=1
      data = s32[] get-tuple-element(s), index=2
      one = s32[] constant(1)
      three = s32[] constant(3)
      n = s32[] $1
      d = s32[] multiply(data, data)
      ROOT t = (s32[], s32[], s32[]) tuple(n, bound, d)
    }
    cond {
      s = (s32[], s32[], s32[]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      bound = s32[] get-tuple-element(s), index=1
      data = s32[] get-tuple-element(s), index=2
      ten = s32[] constant(10)
      ROOT c = pred[] $2
    }
    ENTRY main {
      p = s32[] parameter(0)
      z = s32[] constant($0)
      b = s32[] constant(20)
      t = (s32[], s32[], s32[]) tuple(z, b, p)
      ROOT w = (s32[], s32[], s32[]) while(t), condition=cond, body=body$3
    })",
                                            init, next, condition, attributes);
  auto module = ParseModule(text);
  EXPECT_OK(module.status());
  if (!module.ok()) return std::nullopt;
  return TripCountOf(*(*module)->entry()->root());
}

TEST(TripCountTest, InductionVariables) {
  struct {
    const char *init, *next, *condition;
    int64_t count;
  } cases[] = {
      {"0", "add(i, one)", "compare(i, ten), direction=LT", 10},
      {"0", "add(one, i)", "compare(ten, i), direction=GT", 10},
      {"0", "add(i, three)", "compare(i, ten), direction=LT", 4},
      {"1", "add(i, three)", "compare(i, ten), direction=LE", 4},
      {"25", "subtract(i, three)", "compare(i, ten), direction=GT", 5},
      {"25", "subtract(i, three)", "compare(i, ten), direction=GE", 6},
      {"4", "add(i, three)", "compare(i, ten), direction=NE", 2},
      {"11", "add(i, one)", "compare(i, ten), direction=LT", 0},
      {"-7", "add(three, i)", "compare(ten, i), direction=GE", 6},
      {"30", "subtract(i, one)", "compare(i, bound), direction=NE", 10},
      {"30", "subtract(i, three)", "compare(bound, i), direction=LT", 4},
      {"20", "subtract(i, one)", "compare(bound, i), direction=LE", 1},
      {"0", "add(i, one)", "compare(i, bound), direction=LT", 20},
      {"0", "fusion(i), kind=kLoop, calls=step",
       "compare(i, ten), direction=LT", 5},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(absl::StrCat(c.init, " ", c.next, " ", c.condition));
    const auto trips = Trips(c.init, c.next, c.condition);
    ASSERT_TRUE(trips.has_value());
    EXPECT_EQ(trips->count, c.count);
    EXPECT_EQ(trips->induction_index, 0);
  }
}

// The same loop, wrapped as compilers do: the counter behind a barrier, a copy
// and a convert, the state put together and taken apart, the condition fused.
TEST(TripCountTest, WhatALoopIsWrappedIn) {
  const char kLoop[] = R"(HloModule t
    less { a = s64[] parameter(0)
      limit = s64[] constant(17)
      ROOT r = pred[] compare(a, limit), direction=LE }
    body {
      s = (s32[], f32[4]) parameter(0)
      held = (s32[], f32[4]) opt-barrier(s)
      i = s32[] get-tuple-element(held), index=0
      c = s32[] copy(i)
      x = f32[4] get-tuple-element(held), index=1
      five = s32[] constant(5)
      n = s32[] add(c, five)
      t = (f32[4], s32[]) tuple(x, n)
      m = s32[] get-tuple-element(t), index=1
      u = (s32[], f32[4]) tuple(m, x)
      ROOT r = (s32[], f32[4]) opt-barrier(u)
    }
    cond {
      s = (s32[], f32[4]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      w = s64[] convert(i)
      ROOT r = pred[] fusion(w), kind=kLoop, calls=less
    }
    ENTRY main {
      x = f32[4] parameter(0)
      z = s32[] constant(-3)
      k = s32[] copy(z)
      s = (s32[], f32[4]) tuple(k, x)
      h = (s32[], f32[4]) opt-barrier(s)
      ROOT w = (s32[], f32[4]) while(h), condition=cond, body=body
    })";
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(kLoop));
  const auto trips = TripCountOf(*module->entry()->root());
  ASSERT_TRUE(trips.has_value());
  EXPECT_EQ(trips->count, 5);  // -3, 2, 7, 12, 17
  EXPECT_EQ(trips->init, -3);
  EXPECT_EQ(trips->step, 5);
}

// What a fusion makes of the counter together with something else.
TEST(TripCountTest, TheNextValueMayBeOneOfSeveralResultsOfAFusion) {
  const auto module = ParseModule(R"(HloModule t
    both { x = s32[] parameter(0)
      one = s32[] constant(1)
      n = s32[] add(x, one)
      m = s32[] multiply(x, x)
      ROOT r = (s32[], s32[]) tuple(m, n) }
    body { s = (s32[], s32[]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      f = (s32[], s32[]) fusion(i), kind=kLoop, calls=both
      m = s32[] get-tuple-element(f), index=0
      n = s32[] get-tuple-element(f), index=1
      ROOT t = (s32[], s32[]) tuple(n, m) }
    cond { s = (s32[], s32[]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      ten = s32[] constant(10)
      ROOT c = pred[] compare(i, ten), direction=LT }
    ENTRY main { z = s32[] constant(0)
      t = (s32[], s32[]) tuple(z, z)
      ROOT w = (s32[], s32[]) while(t), condition=cond, body=body })");
  ASSERT_OK(module.status());
  const auto trips = TripCountOf(*(*module)->entry()->root());
  ASSERT_TRUE(trips.has_value());
  EXPECT_EQ(trips->count, 10);
}

TEST(TripCountTest, TheStateMayBeTheCounter) {
  const auto module = ParseModule(R"(HloModule t
    body { i = s32[] parameter(0)
      three = s32[] constant(3)
      ROOT n = s32[] add(i, three) }
    cond { i = s32[] parameter(0)
      ten = s32[] constant(10)
      ROOT c = pred[] compare(i, ten), direction=LT }
    ENTRY main { z = s32[] constant(1)
      ROOT w = s32[] while(z), condition=cond, body=body })");
  ASSERT_OK(module.status());
  const auto trips = TripCountOf(*(*module)->entry()->root());
  ASSERT_TRUE(trips.has_value());
  EXPECT_EQ(trips->count, 3);
}

TEST(TripCountTest, DataDependentLoopsHaveNone) {
  EXPECT_FALSE(Trips("0", "add(i, one)", "compare(data, ten), direction=LT"));
  EXPECT_FALSE(Trips("0", "add(i, data)", "compare(i, ten), direction=LT"));
  EXPECT_FALSE(Trips("0", "multiply(i, one)", "compare(i, ten), direction=LT"));
  EXPECT_FALSE(Trips("0", "add(i, one)", "compare(i, data), direction=LT"));
  // It never ends, or only by overflow.
  EXPECT_FALSE(Trips("0", "subtract(i, one)", "compare(i, ten), direction=LT"));
  EXPECT_FALSE(Trips("0", "add(i, three)", "compare(i, ten), direction=NE"));
}

// As libtpu schedules a scan of torch_xla's: a 64-bit counter in two words.
TEST(TripCountTest, ScalarsThatAreNoInductionVariable) {
  auto module = ParseModule(R"(HloModule t
    body {
      s = (u32[], u32[], f32[8]) parameter(0)
      low = u32[] get-tuple-element(s), index=0
      high = u32[] get-tuple-element(s), index=1
      x = f32[8] get-tuple-element(s), index=2
      one = u32[] constant(1)
      next = u32[] add(low, one)
      carry = pred[] compare(next, low), direction=LT
      more = u32[] add(high, one)
      top = u32[] select(carry, more, high)
      y = f32[8] tanh(x)
      ROOT t = (u32[], u32[], f32[8]) tuple(next, top, y)
    }
    cond {
      s = (u32[], u32[], f32[8]) parameter(0)
      low = u32[] get-tuple-element(s), index=0
      high = u32[] get-tuple-element(s), index=1
      zero = s32[] constant(0)
      none = u32[] constant(0)
      four = u32[] constant(4)
      sign = s32[] bitcast-convert(high)
      negative = pred[] compare(sign, zero), direction=LT
      small = pred[] compare(high, none), direction=EQ
      less = pred[] compare(low, four), direction=LT
      both = pred[] and(small, less)
      ROOT c = pred[] or(negative, both)
    }
    ENTRY main {
      x = f32[8] parameter(0)
      low = u32[] constant(4294967290)
      high = u32[] constant(4294967295)
      t = (u32[], u32[], f32[8]) tuple(low, high, x)
      ROOT w = (u32[], u32[], f32[8]) while(t), condition=cond, body=body
    })");
  ASSERT_OK(module.status());
  const auto trips = TripCountOf(*(*module)->entry()->root());
  ASSERT_TRUE(trips.has_value());
  EXPECT_EQ(trips->count, 10);  // from -6 to 4
}

TEST(TripCountTest, AWrittenCountWins) {
  const auto trips =
      Trips("0", "add(i, data)", "compare(i, ten), direction=LT",
            ", backend_config={\"known_trip_count\":{\"n\":\"42\"}}");
  ASSERT_TRUE(trips.has_value());
  EXPECT_EQ(trips->count, 42);
  EXPECT_EQ(trips->reason, "known_trip_count");
}

}  // namespace
}  // namespace ptxla::hlo
